/* Options of ssdlab: OPT(name, type, default, least, most, help). */
OPT(server, TEXT, "https://localhost:7443", 0, 0, "URL of the controller")
OPT(token_file, PATH, "", 0, 0, "file that holds the token")
OPT(pin, TEXT, "", 0, 0, "sha256//... of the controller's key, trusted instead of a CA")
OPT(ca_file, PATH, "", 0, 0,
	"certificates (PEM) that the controller's is checked against")
