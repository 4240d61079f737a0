-- After a version that lets more addresses be paid, payments to addresses that are not on the allow-list are judged by the version
-- before as well, for as long as a new address waits.
ALTER TABLE policies
  ADD COLUMN guard_version integer,
  ADD COLUMN guard_until timestamptz;
