-- Since when the process in `holder` runs the market; null until one has acquired it with this version.
ALTER TABLE markets ADD COLUMN held_since timestamptz;
