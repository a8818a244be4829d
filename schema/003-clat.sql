-- Which percentiles of foreign results are completion latencies, which begin behind the
-- submission: fio's clat, where a file has no bins of lat.
ALTER TABLE foreign_point ADD COLUMN clat INTEGER NOT NULL DEFAULT 0
	CHECK (clat IN (0, 1));
UPDATE foreign_point SET clat = 1
	WHERE note LIKE 'no bins of lat in the file: percentiles are those of clat,%';
