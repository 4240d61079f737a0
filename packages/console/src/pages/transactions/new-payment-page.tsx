import { useNavigate } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useAssets } from "../../api/catalog";
import { useAction } from "../../api/use-action";
import { useWalletNames } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { faultOf, hasUnknownOutcome } from "../../ui/forms/fault-of";
import { Field } from "../../ui/forms/field";
import { SelectField, TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { Curl } from "../../ui/panels/curl";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { Verdict } from "../../ui/panels/verdict";
import { plainly } from "../../ui/values/foreign-text";
import { ChosenWallet } from "./chosen-wallet";
import {
  bodyOf,
  emptyPayment,
  evaluatedOf,
  networkOf,
  type PaymentFields,
  walletIdOf,
} from "./payment-fields";

/** A payment is held against the policy before it is sent. A lost answer is resolved by sending it again with its key. */
export function NewPaymentPage() {
  const navigate = useNavigate();
  const scopes = useScopes();
  const names = useWalletNames();
  const assets = useAssets();
  const { value: draft, edit: editDraft, clear } = useKeyedDraft("payment", emptyPayment);
  const body = bodyOf(draft, names);
  const send = useAction({
    mutationFn: () => bursar.transactions.create(body, { idempotencyKey: draft.key }),
    onSuccess: ({ id }) => {
      clear();
      void navigate({ to: "/transactions/$id", params: { id } });
    },
  });
  const network = networkOf(draft.asset, assets.data?.data);
  const dryRun = useAction({
    mutationFn: () => bursar.policy.evaluate({ transaction: evaluatedOf(body, network) }),
  });
  const fault = (field: string) =>
    faultOf(send.error, field) ?? faultOf(dryRun.error, `transaction.${field}`);
  const isUnknown = hasUnknownOutcome(send.error);
  const edit = (part: Partial<PaymentFields>) => {
    editDraft(part, isUnknown);
    dryRun.reset();
    if (!isUnknown) send.reset();
  };
  const check = () => {
    if (!isUnknown) send.reset();
    dryRun.mutate();
  };
  const isComplete = draft.reference !== "" && draft.asset !== "" && draft.amount !== "";
  return (
    <>
      <PageHead title="New payment" />
      <form
        className="card stack form"
        onSubmit={(event) => {
          event.preventDefault();
          dryRun.reset();
          send.mutate();
        }}
      >
        <TextField
          label="Reference"
          hint="Your own name for it, such as an invoice number"
          fault={fault("reference")}
          required
          maxLength={128}
          value={draft.reference}
          onValue={(reference) => edit({ reference })}
        />
        <SelectField
          label="Asset"
          fault={fault("asset")}
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
          fault={fault("amount")}
          required
          inputMode="decimal"
          autoComplete="off"
          value={draft.amount}
          onValue={(amount) => edit({ amount: amount.trim() })}
        />
        <WalletField
          label="From"
          hint="The name or id of a wallet. Defaults to the primary wallet"
          names={names}
          asset={draft.asset}
          walletRole="primary"
          value={draft.source}
          fault={fault("source")}
          onChange={(source) => edit({ source })}
        />
        <WalletField
          label="To"
          hint="The name or id of a wallet, or an address on the asset's network. Defaults to the settlement wallet"
          names={names}
          asset={draft.asset}
          walletRole="settlement"
          value={draft.destination}
          fault={fault("destination")}
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
              onClick={check}
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
            {send.isPending ? "Sending" : isUnknown ? "Ask again" : "Send"}
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
  asset: string;
  /** The wallet that is meant if the field is empty. */
  walletRole: "primary" | "settlement";
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

function WalletField({ label, hint, names, asset, walletRole, value, fault, onChange }: WalletFieldProps) {
  const list = `wallets-${label}`;
  const isEmpty = value.trim() === "";
  const id = walletIdOf(isEmpty ? walletRole : value, names);
  return (
    <Field
      label={label}
      hint={
        id === undefined || names?.has(id) !== true ? (
          hint
        ) : (
          <ChosenWallet
            id={id}
            asset={asset}
            pays={walletRole === "primary"}
            {...(isEmpty ? { walletRole } : {})}
          >
            {hint}
          </ChosenWallet>
        )
      }
      fault={fault}
    >
      {(props) => (
        <>
          <input
            {...props}
            className="input mono"
            list={list}
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value)}
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
