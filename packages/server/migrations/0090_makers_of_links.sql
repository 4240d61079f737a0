-- The client that may make a new link for a person who has not used the last one: that which invited the person, or whose recovery of the
-- person was approved. Null if the operator did.
ALTER TABLE clients ADD COLUMN link_by uuid;
