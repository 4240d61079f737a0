import type { EvaluatePolicyBody, PolicyDocument } from "@bursar/client";
import { bursar } from "../../api/bursar";
import { useAssets } from "../../api/catalog";
import { useListedAddresses } from "../../api/listed-addresses";
import { useAction } from "../../api/use-action";
import { useNamedWallets } from "../../api/wallet-names";
import { ActionButton } from "../../ui/forms/action-button";
import { SelectField, TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { Problem } from "../../ui/panels/problem";
import { Verdict } from "../../ui/panels/verdict";
import { bodyOf, emptyPayment, evaluatedOf, networkOf } from "../transactions/payment-fields";
import { RecentPayments } from "./recent-payments";

interface DryRunProps {
  document: PolicyDocument;
  inForce: PolicyDocument;
  isChanged: boolean;
}

interface Question {
  about: EvaluatePolicyBody;
  /** The draft, if it differs from what is in force. */
  document: PolicyDocument | undefined;
}

/** What the draft would decide, about one payment and about those of the past. Another draft, or another policy in force, needs another one: `key`. */
export function DryRun({ document, inForce, isChanged }: DryRunProps) {
  const { value, change } = useDraft("policy-dry-run", () => ({
    ...emptyPayment(),
    reference: "dry-run",
    client: "",
  }));
  const assets = useAssets();
  const { names } = useNamedWallets();
  const { listed } = useListedAddresses();
  const network = networkOf(value.asset, assets.data?.data);
  const run = useAction({
    mutationFn: async ({ about, document }: Question) => {
      const [now, then] = await Promise.all([
        bursar.policy.evaluate(about),
        document && bursar.policy.evaluate({ ...about, document }),
      ]);
      return { now, then };
    },
  });
  const ask = () =>
    run.mutate({
      about: {
        transaction: evaluatedOf(bodyOf(value, network, { wallets: names, listed }), network),
        ...(value.client === "" ? {} : { client_id: value.client }),
      },
      document: isChanged ? document : undefined,
    });
  const edit = (part: Partial<typeof value>) => {
    change(part);
    run.reset();
  };
  return (
    <section className="stack" aria-labelledby="dry-run">
      <h2 id="dry-run">Dry run</h2>
      <div className="card stack">
        <div className="fields">
          <SelectField label="Asset" value={value.asset} onValue={(asset) => edit({ asset })}>
            <option value="">Choose</option>
            {assets.data?.data.map(({ code }) => (
              <option key={code}>{code}</option>
            ))}
          </SelectField>
          <TextField
            label="Amount"
            inputMode="decimal"
            value={value.amount}
            onValue={(amount) => edit({ amount: amount.trim() })}
          />
          <TextField
            label="From"
            hint="A wallet; the primary one if empty"
            value={value.source}
            onValue={(source) => edit({ source: source.trim() })}
          />
          <TextField
            label="To"
            hint="A wallet or an address; the settlement wallet if empty"
            value={value.destination}
            onValue={(destination) => edit({ destination: destination.trim() })}
          />
          <TextField
            label="Requested by"
            hint="The id of a client; you if empty"
            value={value.client}
            onValue={(client) => edit({ client: client.trim() })}
          />
        </div>
        <div className="row">
          <ActionButton
            isPending={run.isPending}
            disabled={value.asset === "" || value.amount === ""}
            onAct={ask}
          >
            Try this payment
          </ActionButton>
        </div>
        {run.error !== null && <Problem error={run.error} />}
        {run.data !== undefined && <Verdict evaluation={run.data.now} title="In force" />}
        {run.data?.then !== undefined && <Verdict evaluation={run.data.then} title="Draft" />}
      </div>
      {isChanged && <RecentPayments key={JSON.stringify(inForce)} document={document} />}
    </section>
  );
}
