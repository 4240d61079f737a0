-- Where a session was last used from; null if only from where it was opened.
ALTER TABLE sessions ADD COLUMN last_address text;
