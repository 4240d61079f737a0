-- Chains: what the driver of a network knows about its blocks, the addresses of wallets, payments, signed bytes and deposits. Only
-- transactions on a chain write to these tables.

-- One row for each network. Its last columns are the lease of the process that drives the network; every write of the driver locks this
-- row and checks the fence first.
CREATE TABLE networks (
  network text PRIMARY KEY,
  genesis_hash text NOT NULL,
  state text NOT NULL DEFAULT 'following' CHECK (state IN ('following', 'halted')),
  halted_reason text,
  halted_at timestamptz,
  -- The last block that was followed, the last final block that was seen, and the last block whose payments and deposits have ended.
  head_number bigint NOT NULL,
  final_number bigint NOT NULL,
  settled_number bigint NOT NULL,
  base_fee numeric(78, 0),
  seen_at timestamptz,
  holder uuid,
  fence bigint NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL DEFAULT '-infinity',
  CHECK ((state = 'halted') = (halted_reason IS NOT NULL AND halted_at IS NOT NULL))
);

-- The settled block and the blocks above it, as they were followed.
CREATE TABLE chain_blocks (
  network text NOT NULL,
  number bigint NOT NULL,
  hash text NOT NULL,
  parent_hash text NOT NULL,
  PRIMARY KEY (network, number)
);

CREATE TABLE chain_wallets (
  tenant_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  network text NOT NULL,
  -- Lower case, with 0x.
  address text NOT NULL UNIQUE,
  -- The same as it is shown, with a checksum.
  shown text NOT NULL,
  next_nonce bigint NOT NULL DEFAULT 0,
  -- All nonces below it are used by transactions in settled blocks.
  final_nonce bigint NOT NULL DEFAULT 0,
  halted_reason text,
  halted_at timestamptz,
  -- The settled block at which its balances were last compared with the chain; -1 if something has changed since.
  compared_number bigint NOT NULL DEFAULT -1,
  PRIMARY KEY (tenant_id, wallet_id),
  FOREIGN KEY (tenant_id, wallet_id) REFERENCES wallets (tenant_id, id),
  CHECK (final_nonce <= next_nonce),
  CHECK ((halted_reason IS NULL) = (halted_at IS NULL))
);
CREATE INDEX chain_wallets_to_compare ON chain_wallets (network, compared_number, wallet_id);

CREATE TABLE chain_payments (
  tenant_id uuid NOT NULL,
  transaction_id uuid NOT NULL,
  network text NOT NULL,
  wallet_id uuid NOT NULL,
  stage text NOT NULL CHECK (stage IN ('ready', 'assigned', 'signed', 'included', 'over')),
  -- Given once and never changed.
  nonce bigint CHECK (nonce >= 0),
  -- The attempt that was stored last, and the one that is to be signed, with its terms. Equal if nothing is to be signed.
  attempt smallint NOT NULL DEFAULT 0,
  wanted smallint NOT NULL DEFAULT 0,
  purpose text NOT NULL DEFAULT 'payment' CHECK (purpose IN ('payment', 'replacement', 'cancellation')),
  gas_limit numeric(78, 0),
  data_fee numeric(78, 0) NOT NULL DEFAULT 0,
  max_fee numeric(78, 0),
  max_tip numeric(78, 0),
  speed_up_requested boolean NOT NULL DEFAULT false,
  speed_up_requested_by uuid,
  -- The head when the terms were last changed or found to be the highest possible.
  terms_number bigint,
  assigned_at timestamptz,
  -- Where the chain has it, and what it did there.
  included_hash text,
  block_number bigint,
  block_hash text,
  succeeded boolean,
  fee numeric(78, 0),
  PRIMARY KEY (tenant_id, transaction_id),
  UNIQUE (tenant_id, wallet_id, nonce),
  CHECK ((stage = 'ready') <= (nonce IS NULL)),
  CHECK ((stage IN ('assigned', 'signed', 'included')) <= (nonce IS NOT NULL)),
  CHECK ((stage = 'included') <= (block_number IS NOT NULL)),
  CHECK (attempt <= wanted)
);
CREATE INDEX chain_payments_ready ON chain_payments (network, wallet_id, transaction_id) WHERE stage = 'ready';
CREATE INDEX chain_payments_to_sign ON chain_payments (network, transaction_id) WHERE wanted > attempt AND stage IN ('assigned', 'signed');
CREATE INDEX chain_payments_open ON chain_payments (network, wallet_id, nonce) WHERE stage IN ('assigned', 'signed');
CREATE INDEX chain_payments_included ON chain_payments (network, block_number) WHERE stage = 'included';

-- Every transaction that was ever signed and stored; kept for good, because a hash must always be recognised.
CREATE TABLE chain_attempts (
  network text NOT NULL,
  hash text NOT NULL,
  tenant_id uuid NOT NULL,
  transaction_id uuid NOT NULL,
  number smallint NOT NULL CHECK (number > 0),
  purpose text NOT NULL CHECK (purpose IN ('payment', 'replacement', 'cancellation')),
  bytes bytea NOT NULL,
  gas_limit numeric(78, 0) NOT NULL,
  max_fee numeric(78, 0) NOT NULL,
  max_tip numeric(78, 0) NOT NULL,
  stored_at timestamptz NOT NULL,
  PRIMARY KEY (network, hash),
  UNIQUE (tenant_id, transaction_id, number)
);

-- A transfer to a wallet. Its identity is its place within its transaction, which another block does not change.
CREATE TABLE chain_deposits (
  network text NOT NULL,
  hash text NOT NULL,
  ordinal integer NOT NULL,
  tenant_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  asset text NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  -- Null if it is below the minimum: it is added to others at finality.
  transaction_id uuid,
  -- Null while a reorganisation has taken it out of the chain.
  block_number bigint,
  block_hash text,
  left_number bigint,
  state text NOT NULL CHECK (state IN ('seen', 'credited', 'removed', 'gathered')),
  PRIMARY KEY (network, hash, ordinal),
  CHECK (state <> 'seen' OR (block_number IS NULL) = (left_number IS NOT NULL))
);
CREATE INDEX chain_deposits_seen ON chain_deposits (network, block_number) WHERE state = 'seen' AND block_number IS NOT NULL;
CREATE INDEX chain_deposits_left ON chain_deposits (network, left_number) WHERE state = 'seen' AND left_number IS NOT NULL;
CREATE INDEX chain_deposits_incoming ON chain_deposits (tenant_id, wallet_id) WHERE state = 'seen';

-- What a wallet has on the chain at a settled block, and what has arrived below the minimum and is not credited yet.
CREATE TABLE chain_holdings (
  tenant_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  asset text NOT NULL,
  on_chain numeric(78, 0),
  block_number bigint,
  gathered numeric(78, 0) NOT NULL DEFAULT 0 CHECK (gathered >= 0),
  PRIMARY KEY (tenant_id, wallet_id, asset)
);
