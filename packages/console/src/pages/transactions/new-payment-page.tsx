import type { CreateTransactionBody, EvaluatePolicyBody, Transaction } from "@bursar/client";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { useAssets } from "../../api/catalog";
import { useListedAddresses } from "../../api/listed-addresses";
import { useAction } from "../../api/use-action";
import { useNamedWallets } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { useGoToFault } from "../../ui/forms/use-go-to-fault";
import { useKeptFocus } from "../../ui/forms/use-kept-focus";
import { Curl } from "../../ui/panels/curl";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { Verdict } from "../../ui/panels/verdict";
import { AddressLabel } from "../../ui/values/address-label";
import { ForgetQuestion } from "../../unanswered/forget-question";
import { UnansweredList } from "../../unanswered/unanswered-list";
import { useSentOnce } from "../../unanswered/use-sent-once";
import { AcceptedPayments, useAcceptedPayments } from "./accepted-payments";
import { AssetField } from "./asset-field";
import { ConfirmPayment } from "./confirm-payment";
import { addressChoices, isWholeWalletId, nameFaultOf, payeeHint, payeeOf, walletIdOf } from "./payee";
import {
  bodyOf,
  dependsOnNames,
  emptyDraft,
  evaluatedOf,
  isAmount,
  networkOf,
  type PaymentFields,
} from "./payment-fields";
import { paymentWords } from "./payment-words";
import { WalletField } from "./wallet-field";

/**
 * A payment is held against the policy before it is sent. A lost answer is resolved by sending the same again with its key, also after a
 * reload. Until then nothing can be edited: other content has another key, and would be another payment.
 */
export function NewPaymentPage() {
  const scopes = useScopes();
  if (scopes.includes("transactions:write")) return <PaymentForm />;
  return (
    <>
      <PageHead title="New payment" />
      {/* Until it is known who is logged in, there are no scopes. */}
      {scopes.length > 0 && (
        <Empty title="Your role does not pay">Ask an administrator for a role that does.</Empty>
      )}
    </>
  );
}

function PaymentForm() {
  const navigate = useNavigate();
  const scopes = useScopes();
  const knowsNames = scopes.includes("wallets:read");
  const mayRead = scopes.includes("transactions:read");
  const { accepted, keep, dismiss } = useAcceptedPayments();
  const wallets = useNamedWallets();
  const addresses = useListedAddresses();
  const { names, defaults } = wallets;
  const { listed } = addresses;
  const assets = useAssets();
  const keyed = useKeyedDraft("payment", emptyDraft);
  const { value: draft, edit: editDraft, clear } = keyed;
  const { sent } = draft;
  const network = networkOf(draft.asset, assets.data?.data);
  const body = sent ?? bodyOf(draft, network, { wallets: names, listed });
  const readNamesAgain = () => Promise.all([wallets.readAgain(), addresses.readAgain()]);
  const open = (paid: Transaction, isShown: boolean) => {
    if (!mayRead) keep(paid);
    else if (isShown) void navigate({ to: "/transactions/$id", params: { id: paid.id } });
  };
  const { send, submit, discard, isPending, isLocked, isUnknown, wasRefusedAgain, editAsNew } = useSentOnce({
    kind: "payment",
    draft: keyed,
    post: bursar.transactions.create,
    review: async (shown, typed) => {
      if (!dependsOnNames(typed)) return;
      const [wallets, listed] = await readNamesAgain();
      refuseIfChanged(shown, bodyOf(typed, network, { wallets, listed }));
    },
    onEnd: clear,
    onAnswer: open,
  });
  // Also one that is not among the names: they can be too many, or older than the wallet.
  const readable = (id = "") => (knowsNames && isWholeWalletId(id) ? id : undefined);
  const payee = payeeOf(draft.destination, network, { wallets: names, listed });
  const payerId = readable(draft.source.trim() === "" ? defaults.primary : walletIdOf(draft.source, names));
  const payeeId = readable(
    payee === undefined ? defaults.settlement : "wallet_id" in payee ? payee.wallet_id : undefined,
  );
  const dryRun = useAction({ mutationFn: (body: EvaluatePolicyBody) => bursar.policy.evaluate(body) });
  const fault = (field: string) =>
    faultOf(send.error, field) ?? faultOf(dryRun.error, `transaction.${field}`);
  const edit = (part: Partial<PaymentFields>) => {
    if (isLocked) return;
    editDraft(part);
    dryRun.reset();
    send.reset();
  };
  const check = () => {
    send.reset();
    dryRun.mutate({ transaction: evaluatedOf(body, network) });
  };
  const amountFault = draft.amount === "" || isAmount(draft.amount) ? undefined : notAnAmount;
  const areNamesLoading = wallets.isLoading || addresses.isLoading;
  const nameFaults = areNamesLoading
    ? {}
    : {
        source: nameFaultOf(draft.source, names),
        destination: payee !== undefined && "fault" in payee ? payee.fault : undefined,
      };
  const form = useRef<HTMLFormElement>(null);
  useKeptFocus(form, isLocked);
  useGoToFault(form, send.error);
  const forget = () => {
    discard();
    dryRun.reset();
  };
  const [isAsking, setAsking] = useState(false);
  const [isForgetting, setForgetting] = useState(false);
  const pay = () => {
    setAsking(false);
    submit(body);
  };
  const isComplete = draft.reference !== "" && draft.asset !== "" && draft.amount !== "";
  return (
    <>
      <PageHead title="New payment" />
      <AcceptedPayments accepted={accepted} onDismiss={dismiss} />
      <UnansweredList
        kind="payment"
        words={paymentWords}
        exceptKey={sent === undefined ? undefined : draft.key}
        post={bursar.transactions.create}
        onAnswer={open}
      />
      <form
        className="card stack form"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          dryRun.reset();
          if (sent !== undefined) pay();
          else if (amountFault !== undefined) return;
          else if (nameFaults.source === undefined && nameFaults.destination === undefined) setAsking(true);
        }}
      >
        {!knowsNames && (
          <p className="notice small">
            Your role lacks <code>wallets:read</code>: you name wallets by their ids, and do not see what they
            have.
          </p>
        )}
        {!mayRead && (
          <p className="notice small">
            Your role lacks <code>transactions:read</code>: you name the asset by its code, and do not see
            what becomes of a payment.
          </p>
        )}
        <fieldset className="contents" disabled={isLocked}>
          <TextField
            label="Reference"
            hint="Your own name for it, such as an invoice number"
            fault={fault("reference")}
            required
            maxLength={128}
            value={draft.reference}
            onValue={(reference) => edit({ reference })}
          />
          <AssetField value={draft.asset} fault={fault("asset")} onValue={(asset) => edit({ asset })} />
          <TextField
            label="Amount"
            hint="An exact decimal number, such as 125.50"
            fault={amountFault ?? fault("amount")}
            required
            inputMode="decimal"
            autoComplete="off"
            value={draft.amount}
            onValue={(amount) => edit({ amount: amount.trim() })}
          />
          <WalletField
            label="From"
            hint={`The ${knowsNames ? "name or id" : "id"} of a wallet. Defaults to the primary wallet`}
            id={payerId}
            names={names}
            asset={draft.asset}
            pays
            value={draft.source}
            fault={nameFaults.source ?? fault("source")}
            onChange={(source) => edit({ source })}
          />
          <WalletField
            label="To"
            hint={
              payee !== undefined && "address" in payee ? (
                <>
                  <AddressLabel address={payee.address} network={network} />
                  <code className="wrap-anywhere">{payee.address}</code>
                </>
              ) : (
                payeeHint(knowsNames, scopes.includes("policies:read"))
              )
            }
            id={payeeId}
            names={names}
            addresses={addressChoices(listed, network)}
            asset={draft.asset}
            pays={false}
            value={draft.destination}
            fault={nameFaults.destination ?? fault("destination")}
            onChange={(destination) => edit({ destination })}
          />
        </fieldset>
        {dryRun.data !== undefined && <Verdict evaluation={dryRun.data} />}
        {dryRun.error !== null && <Problem error={dryRun.error} />}
        {send.error !== null && <Problem error={send.error} />}
        {isUnknown && send.error === null && (
          <p className="notice" data-tone="wait" role="status">
            This payment was sent, and the answer was lost. Ask again: it is paid once at most.
          </p>
        )}
        <div className="row">
          {scopes.includes("policies:read") && (
            <button
              type="button"
              className="button"
              disabled={!isComplete || amountFault !== undefined || isLocked || dryRun.isPending}
              onClick={check}
            >
              Check the policy
            </button>
          )}
          <button
            type="submit"
            className="button"
            data-tone="primary"
            disabled={!isComplete || isPending || (!isLocked && areNamesLoading && dependsOnNames(draft))}
          >
            {isPending ? "Sending" : isUnknown ? "Ask again" : "Send"}
          </button>
          {wasRefusedAgain && (
            <button type="button" className="button" disabled={isPending} onClick={editAsNew}>
              Edit as a new payment
            </button>
          )}
          <button
            type="button"
            className="button"
            disabled={isPending}
            onClick={isUnknown ? () => setForgetting(true) : forget}
          >
            Discard
          </button>
        </div>
      </form>
      {isForgetting && (
        <ForgetQuestion
          words={paymentWords}
          onConfirm={() => {
            setForgetting(false);
            forget();
          }}
          onClose={() => setForgetting(false)}
        />
      )}
      {isAsking && (
        <ConfirmPayment
          body={body}
          evaluated={evaluatedOf(body, network)}
          idempotencyKey={draft.key}
          payerId={payerId}
          payeeId={payeeId}
          network={network}
          names={names}
          onConfirm={pay}
          onClose={() => setAsking(false)}
        />
      )}
      <Curl method="POST" path="/v1/transactions" body={body} idempotencyKey={draft.key} />
    </>
  );
}

const notAnAmount = "must be a decimal number, such as 125.50, without a sign or an exponent";

function refuseIfChanged(shown: CreateTransactionBody, now: CreateTransactionBody): void {
  if (JSON.stringify(now) !== JSON.stringify(shown))
    throw new Error(
      "A wallet or address was named meanwhile. Check which ones are shown now, and send again.",
    );
}
