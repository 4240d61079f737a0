import { type CreateTransactionBody, type EvaluatedTransaction, isBursarError } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { bursar } from "../../api/bursar";
import { useNetworks } from "../../api/catalog";
import { useAction } from "../../api/use-action";
import { useNamedWallets, useWallet, useWalletQuery, type WalletNames } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Loaded } from "../../ui/panels/loaded";
import { Verdict } from "../../ui/panels/verdict";
import { isSameAddress } from "../../ui/values/address";
import { AddressLabel } from "../../ui/values/address-label";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { SecondOne } from "../../unanswered/unanswered-list";
import { frozenPayee } from "./chosen-wallet";
import { FeeNotice } from "./fee-notice";
import { findPaidBefore } from "./find-paid-before";
import { PaidBefore, useEarlierPayments } from "./paid-before";
import { isAlike, isMore } from "./payment-fields";
import { paymentWords } from "./payment-words";

interface ConfirmPaymentProps {
  body: CreateTransactionBody;
  evaluated: EvaluatedTransaction;
  idempotencyKey: string;
  /** The wallet that pays, if it is known. */
  payerId: string | undefined;
  /** The wallet that is paid, if it is one and is known. */
  payeeId: string | undefined;
  /** The network of the asset. */
  network: string;
  names: WalletNames | undefined;
  onConfirm: () => void;
  onClose: () => void;
}

const paidMeanwhile = new Error(
  "Nothing was sent, because a payment like this one was sent while this question was open. Look at it above: if both are meant, send this one again.",
);

/** What is about to be paid, by the names of the wallets, and what the policy says about it. */
export function ConfirmPayment(props: ConfirmPaymentProps) {
  const { body, evaluated, idempotencyKey, payerId, payeeId, network, names, onConfirm, onClose } = props;
  const scopes = useScopes();
  const mayAsk = scopes.includes("policies:read");
  const verdict = useQuery({
    queryKey: ["payment-verdict", evaluated],
    enabled: mayAsk,
    // What the policy said before is not shown until it has answered again.
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => bursar.policy.evaluate({ transaction: evaluated }, { signal }),
  });
  const earlier = useEarlierPayments(body.reference);
  const alike = (data: typeof earlier.data = []) => Object.values(findPaidBefore(data, body, payeeId)).flat();
  const seen = new Set(alike(earlier.data).map(({ id }) => id));
  // Somebody else, or another tab, can have paid since the question was asked.
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  const send = useAction({
    mutationFn: async (confirm: () => void) => {
      if (alike(await earlier.look()).some(({ id }) => !seen.has(id))) throw paidMeanwhile;
      // Who has gone back meanwhile does not send it.
      if (isOpen.current) confirm();
    },
  });
  const { source, destination } = body;
  const payerQuery = useWalletQuery(payerId);
  const payer = payerQuery.data;
  const payee = useWallet(payeeId);
  const wallets = useNamedWallets();
  const mayRead = scopes.includes("wallets:read");
  const isReadingPayer = payerQuery.isLoading || (source === undefined && wallets.isLoading);
  const isFrozen = payer?.frozen === true;
  const available = payer && (payer.balances.find(({ asset }) => asset === body.asset)?.available ?? "0");
  const isToItself =
    payer?.address != null &&
    destination !== undefined &&
    "address" in destination &&
    isSameAddress(destination.address, payer.address);
  // The book is none, and costs nothing.
  const chain = useNetworks().data?.data.find(({ id }) => id === network);
  // It would be refused, or recorded as rejected, and nothing would be paid.
  const isRefused = wouldBeRefused(verdict.error) || verdict.data?.action === "reject";
  const nameOf = (id: string) => names?.get(id) ?? [payer, payee].find((one) => one?.id === id)?.name;
  const wallet = (id: string) => (
    <>
      <ForeignText text={nameOf(id) ?? ""} /> <code>{id}</code>
    </>
  );
  const walletOr = (words: string, id: string | undefined) => (id === undefined ? words : wallet(id));
  return (
    <Confirm
      title="Send this payment?"
      verb="Send it"
      closeVerb="Go back"
      mutation={send}
      isReady={!isFrozen && !isToItself && !isRefused}
      isChecking={earlier.isLoading || verdict.isLoading || isReadingPayer}
      onConfirm={() => send.mutate(onConfirm)}
      onClose={onClose}
    >
      <Facts>
        <Fact name="Amount">
          <Amount value={body.amount} asset={body.asset} />
        </Fact>
        <Fact name="From">{walletOr("the primary wallet", source?.wallet_id ?? payerId)}</Fact>
        <Fact name="To">
          {destination === undefined ? (
            walletOr("the settlement wallet", payeeId)
          ) : "address" in destination ? (
            <>
              <AddressLabel address={destination.address} network={network} />
              <code className="wrap-anywhere">{destination.address}</code>
            </>
          ) : (
            wallet(destination.wallet_id)
          )}
        </Fact>
        <Fact name="Network fee">
          {chain !== undefined && (
            <>
              paid by the same wallet on top, at most <Amount value={chain.fee_max} asset={chain.coin} />
            </>
          )}
        </Fact>
        <TextFact name="Reference" text={body.reference} />
      </Facts>
      <SecondOne
        kind="payment"
        words={paymentWords}
        idempotencyKey={idempotencyKey}
        isAlike={(sent) => isAlike(sent, body)}
      />
      <PaidBefore body={body} payeeId={payeeId} earlier={earlier} />
      {payee?.frozen === true && (
        <p className="notice" data-tone="wait" role="alert">
          The wallet that would be paid is frozen: {frozenPayee}.
        </p>
      )}
      {mayRead && payer === undefined && !isReadingPayer && (
        <p className="notice" data-tone="wait" role="alert">
          It is not known what the wallet that would pay has, and whether it is frozen
          {source === undefined && ": name it by its id to see that"}.
        </p>
      )}
      {available !== undefined && isMore(body.amount, available) && (
        <p className="notice" data-tone="bad" role="alert">
          The wallet that would pay has only <Amount value={available} asset={body.asset} />. The payment
          fails unless more arrives before it is processed.
        </p>
      )}
      {chain !== undefined && payer !== undefined && <FeeNotice body={body} chain={chain} payer={payer} />}
      {isFrozen && (
        <p className="notice" data-tone="bad" role="alert">
          The wallet that would pay is frozen.
        </p>
      )}
      {isToItself && (
        <p className="notice" data-tone="bad" role="alert">
          This is the address of the wallet that would pay. The service refuses to pay a wallet from itself.
        </p>
      )}
      {mayAsk && !isFrozen && !isToItself && (
        <Loaded query={verdict}>{(evaluation) => <Verdict evaluation={evaluation} />}</Loaded>
      )}
    </Confirm>
  );
}

/** Asked again, the service says the same: what was entered is malformed, or names what does not exist or does not fit. */
function wouldBeRefused(error: unknown): boolean {
  return isBursarError(error) && [400, 404, 409, 422].includes(error.status ?? 0);
}
