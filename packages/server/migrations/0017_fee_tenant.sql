-- The tenant that market fees are paid to says so by its name.
UPDATE tenants SET name = 'fees' WHERE id = '00000000-0000-8000-8000-0000000000a0';
