/*
 * One row per reason why a run waits: name, code in the API. The order is the order in
 * which they are shown.
 */
BLOCKER(CAMPAIGN_PAUSED, "campaign.paused")
BLOCKER(DRIVE_UNAPPROVED, "drive.unapproved")
BLOCKER(DRIVE_READONLY, "drive.readonly")
BLOCKER(DRIVE_RETIRED, "drive.retired")
BLOCKER(DRIVE_ABSENT, "drive.absent")
BLOCKER(DRIVE_PROTECTED, "drive.protected")
BLOCKER(DRIVE_CONFLICT, "drive.conflict")
BLOCKER(DRIVE_LEASED, "drive.leased")
BLOCKER(DRIVE_COLLECTING, "drive.collecting")
BLOCKER(DRIVE_FENCED, "drive.fenced")
BLOCKER(DRIVE_QUARANTINED, "drive.quarantined")
BLOCKER(NODE_PENDING, "node.pending")
BLOCKER(NODE_DRAINING, "node.draining")
BLOCKER(NODE_RETIRED, "node.retired")
BLOCKER(NODE_LATE, "node.late")
BLOCKER(NODE_LOST, "node.lost")
BLOCKER(NODE_INCOMPATIBLE, "node.incompatible")
BLOCKER(NODE_TROUBLE, "node.trouble")
BLOCKER(NODE_FULL, "node.full")
