-- Serves the removal of old hours, also those of tenants whose endpoints are gone.
CREATE INDEX webhook_hours_by_start ON webhook_hours (start);
