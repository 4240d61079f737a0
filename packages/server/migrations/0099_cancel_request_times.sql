-- When the cancellation of a payment was requested that a network works on. That of a request from before this version is not known, and was not later than now.
ALTER TABLE open_transactions ADD COLUMN cancel_requested_at timestamptz;
UPDATE open_transactions SET cancel_requested_at = now() WHERE cancel_requested;
