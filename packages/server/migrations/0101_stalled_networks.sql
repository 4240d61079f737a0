-- Since when nothing more of the network is settled, and why; null while it is.
ALTER TABLE networks ADD COLUMN stalled_since timestamptz, ADD COLUMN stalled_reason text;
