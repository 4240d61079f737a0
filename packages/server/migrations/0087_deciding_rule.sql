-- The rule of the policy that has allowed a payment when it was accepted. What the engine judges has its rule in judgements.
ALTER TABLE transactions ADD COLUMN policy_rule text;
