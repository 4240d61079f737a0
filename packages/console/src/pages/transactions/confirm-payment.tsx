import { type CreateTransactionBody, type EvaluatedTransaction, isBursarError } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import type { WalletNames } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { Fact, Facts, TextFact } from "../../ui/panels/facts";
import { Loaded } from "../../ui/panels/loaded";
import { Verdict } from "../../ui/panels/verdict";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { SecondOne } from "../../unanswered/unanswered-list";
import { useIsFrozen } from "./chosen-wallet";
import { isAlike } from "./payment-fields";
import { paymentWords } from "./payment-words";

interface ConfirmPaymentProps {
  body: CreateTransactionBody;
  evaluated: EvaluatedTransaction;
  idempotencyKey: string;
  /** The wallet that pays, if it is known. */
  payerId: string | undefined;
  names: WalletNames | undefined;
  onConfirm: () => void;
  onClose: () => void;
}

const idle = { isPending: false, error: null };

/** What is about to be paid, by the names of the wallets, and what the policy says about it. */
export function ConfirmPayment(props: ConfirmPaymentProps) {
  const { body, evaluated, idempotencyKey, payerId, names, onConfirm, onClose } = props;
  const mayAsk = useScopes().includes("policies:read");
  const verdict = useQuery({
    queryKey: ["payment-verdict", evaluated],
    enabled: mayAsk,
    // What the policy said before is not shown until it has answered again.
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => bursar.policy.evaluate({ transaction: evaluated }, { signal }),
  });
  const { source, destination } = body;
  const isFrozen = useIsFrozen(payerId, source === undefined);
  // What the service cannot read is not a payment.
  const isInvalid = isBursarError(verdict.error) && verdict.error.code === "INVALID_REQUEST";
  const wallet = (id: string) => (
    <>
      {names?.has(id) && <ForeignText text={names.get(id) ?? ""} />} <code>{id}</code>
    </>
  );
  return (
    <Confirm
      title="Send this payment?"
      verb="Send it"
      closeVerb="Go back"
      mutation={idle}
      isReady={!isFrozen && !isInvalid}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Facts>
        <Fact name="Amount">
          <Amount value={body.amount} asset={body.asset} />
        </Fact>
        <Fact name="From">{source === undefined ? "the primary wallet" : wallet(source.wallet_id)}</Fact>
        <Fact name="To">
          {destination === undefined ? (
            "the settlement wallet"
          ) : "address" in destination ? (
            <code className="wrap-anywhere">{destination.address}</code>
          ) : (
            wallet(destination.wallet_id)
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
      {isFrozen && (
        <p className="notice" data-tone="bad" role="alert">
          The wallet that would pay is frozen.
        </p>
      )}
      {mayAsk && !isFrozen && (
        <Loaded query={verdict}>{(evaluation) => <Verdict evaluation={evaluation} />}</Loaded>
      )}
    </Confirm>
  );
}
