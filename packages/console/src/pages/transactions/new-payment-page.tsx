import { type CreateTransactionBody, type EvaluatedTransaction, isBursarError } from "@bursar/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useWalletNames } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { Field } from "../../ui/forms/field";
import { SelectField, TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { Curl } from "../../ui/panels/curl";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { Verdict } from "../../ui/panels/verdict";
import { ForeignText, plainly } from "../../ui/values/foreign-text";

interface Draft {
  /** The same for every attempt at this payment, so that it happens once. */
  key: string;
  reference: string;
  asset: string;
  amount: string;
  source: string;
  destination: string;
}

const empty = (): Draft => ({
  key: crypto.randomUUID(),
  reference: "",
  asset: "",
  amount: "",
  source: "",
  destination: "",
});

/** A payment is held against the policy before it is sent. A lost answer is resolved by sending it again with its key. */
export function NewPaymentPage() {
  const navigate = useNavigate();
  const scopes = useScopes();
  const names = useWalletNames();
  const assets = useQuery({
    queryKey: ["assets"],
    queryFn: ({ signal }) => bursar.assets.list({ signal }),
    staleTime: 600_000,
  });
  const { value: draft, change, clear } = useDraft("payment", empty);
  const body = bodyOf(draft);
  const send = useMutation({
    mutationFn: () => bursar.transactions.create(body, { idempotencyKey: draft.key }),
    onSuccess: ({ id }) => {
      clear();
      void navigate({ to: "/transactions/$id", params: { id } });
    },
  });
  const network = assets.data?.data.find(({ code }) => code === draft.asset)?.network ?? "";
  const dryRun = useMutation({
    mutationFn: () => bursar.policy.evaluate({ transaction: evaluatedOf(body, network) }),
  });
  const faultOf = (path: string) => {
    const error = send.error ?? dryRun.error;
    return isBursarError(error)
      ? error.details.find((detail) => detail.path.endsWith(path))?.reason
      : undefined;
  };
  const edit = (part: Partial<Draft>) => {
    // Another content is another payment, unless the last attempt may have had its effect.
    const isUnknown = isBursarError(send.error) && send.error.outcome === "unknown";
    change(isUnknown ? part : { ...part, key: crypto.randomUUID() });
    dryRun.reset();
    if (!isUnknown) send.reset();
  };
  const isComplete = draft.reference !== "" && draft.asset !== "" && draft.amount !== "";
  return (
    <>
      <PageHead title="New payment" />
      <form
        className="card stack form"
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <TextField
          label="Reference"
          hint="Your own name for it, such as an invoice number"
          fault={faultOf("reference")}
          required
          maxLength={128}
          value={draft.reference}
          onValue={(reference) => edit({ reference })}
        />
        <SelectField
          label="Asset"
          fault={faultOf("asset")}
          required
          value={draft.asset}
          onValue={(asset) => edit({ asset })}
        >
          <option value="">Choose</option>
          {assets.data?.data.map(({ code, network }) => (
            <option key={code} value={code}>
              {code} ({network})
            </option>
          ))}
        </SelectField>
        <TextField
          label="Amount"
          hint="An exact decimal number, such as 125.50"
          fault={faultOf("amount")}
          required
          inputMode="decimal"
          autoComplete="off"
          value={draft.amount}
          onValue={(amount) => edit({ amount: amount.trim() })}
        />
        <WalletField
          label="From"
          hint="Defaults to the primary wallet"
          names={names}
          value={draft.source}
          fault={faultOf("source")}
          onChange={(source) => edit({ source })}
        />
        <WalletField
          label="To"
          hint="A wallet, or an address on the asset's network. Defaults to the settlement wallet"
          names={names}
          value={draft.destination}
          fault={faultOf("destination")}
          onChange={(destination) => edit({ destination })}
        />
        {dryRun.data !== undefined && <Verdict evaluation={dryRun.data} />}
        {dryRun.error !== null && <Problem error={dryRun.error} />}
        {send.error !== null && <Problem error={send.error} />}
        <div className="row">
          {scopes.includes("policies:read") && (
            <button
              type="button"
              className="button"
              disabled={!isComplete || dryRun.isPending}
              onClick={() => dryRun.mutate()}
            >
              Check the policy
            </button>
          )}
          <button
            type="submit"
            className="button"
            data-tone="primary"
            disabled={!isComplete || send.isPending}
          >
            {send.isPending
              ? "Sending"
              : isBursarError(send.error) && send.error.outcome === "unknown"
                ? "Ask again"
                : "Send"}
          </button>
          <button type="button" className="button" onClick={clear}>
            Discard
          </button>
        </div>
      </form>
      <Curl method="POST" path="/v1/transactions" body={body} idempotencyKey={draft.key} />
    </>
  );
}

interface WalletFieldProps {
  label: string;
  hint: string;
  names: ReadonlyMap<string, string> | undefined;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

function WalletField({ label, hint, names, value, fault, onChange }: WalletFieldProps) {
  const list = `wallets-${label}`;
  const name = names?.get(value);
  return (
    <Field label={label} hint={name === undefined ? hint : <ForeignText text={name} />} fault={fault}>
      {(props) => (
        <>
          <input
            {...props}
            className="input mono"
            list={list}
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value.trim())}
          />
          <datalist id={list}>
            {[...(names ?? [])].map(([id, name]) => (
              <option key={id} value={id}>
                {plainly(name)}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** A dry run names the network of an address, which a payment takes from its asset. */
function evaluatedOf(
  { destination, ...others }: CreateTransactionBody,
  network: string,
): EvaluatedTransaction {
  if (destination === undefined) return others;
  return {
    ...others,
    destination: "address" in destination ? { network, address: destination.address } : destination,
  };
}

function bodyOf({ reference, asset, amount, source, destination }: Draft): CreateTransactionBody {
  return {
    reference,
    asset,
    amount,
    ...(source === "" ? {} : { source: { wallet_id: source } }),
    ...(destination === ""
      ? {}
      : {
          destination: destination.startsWith("wlt_") ? { wallet_id: destination } : { address: destination },
        }),
  };
}
