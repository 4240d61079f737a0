-- What proves something once stays used until it has expired, also for the role of the service.
CREATE FUNCTION refuse_nonce_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a used nonce stays until it has expired' USING ERRCODE = 'check_violation';
END
$$;

CREATE TRIGGER used_nonces_stay BEFORE UPDATE OR DELETE ON used_nonces FOR EACH ROW WHEN (OLD.expires_at > now())
  EXECUTE FUNCTION refuse_nonce_change();
