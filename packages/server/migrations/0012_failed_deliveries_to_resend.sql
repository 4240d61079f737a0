-- What failed and was not sent again: without these, sending all of it again passes over everything that ever was.
CREATE INDEX finished_deliveries_to_resend ON finished_deliveries (tenant_id, id)
  WHERE state = 'exhausted' AND NOT resent;
CREATE INDEX finished_deliveries_to_resend_by_endpoint ON finished_deliveries (tenant_id, endpoint_id, id)
  WHERE state = 'exhausted' AND NOT resent;
