-- A writer to the database cannot bring a number to its end, so that none could follow. Both conditions are false for what the service writes:
-- the functions are not called then.
CREATE FUNCTION refuse_head_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the number % is too far ahead for the head of an audit log', NEW.number USING ERRCODE = 'check_violation';
END
$$;

CREATE TRIGGER audit_heads_begin BEFORE INSERT ON audit_heads
  FOR EACH ROW WHEN (NEW.number <> 0) EXECUTE FUNCTION refuse_head_number();
-- More than the service ever skips because of rows that something else has inserted, and so few that the last number is not reached by
-- repeating it: that takes 10^12 changes.
CREATE TRIGGER audit_heads_advance BEFORE UPDATE OF number ON audit_heads
  FOR EACH ROW WHEN (NEW.number - OLD.number > 10000000) EXECUTE FUNCTION refuse_head_number();

-- The id is random: what something else has inserted, or has inserted and not committed, is not in the way of a stop. Of two records with the
-- same number the one that stops counts.
ALTER TABLE stop_records ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid();
ALTER TABLE stop_records DROP CONSTRAINT stop_records_pkey;
ALTER TABLE stop_records ADD PRIMARY KEY (tenant_id, subject_id, number, stopped, id);

-- The table by its own name, because the caller chooses the search path.
CREATE FUNCTION refuse_stop_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  EXECUTE format('SELECT max(number) FROM %I.%I WHERE tenant_id = $1 AND subject_id = $2', TG_TABLE_SCHEMA, TG_TABLE_NAME)
    INTO last USING NEW.tenant_id, NEW.subject_id;
  IF NEW.number - 1 > coalesce(last, 0) THEN
    RAISE EXCEPTION 'the number % of a stop record does not follow %', NEW.number, coalesce(last, 0) USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER stop_records_follow BEFORE INSERT ON stop_records
  FOR EACH ROW WHEN (NEW.number > 1000) EXECUTE FUNCTION refuse_stop_number();
