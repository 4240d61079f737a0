import { Confirm } from "../../ui/dialogs/confirm";

const idle = { isPending: false, error: null };

/** Asks before a payment is forgotten that may have been made. */
export function ForgetPayment({ onConfirm, onClose }: { onConfirm: () => void; onClose: () => void }) {
  return (
    <Confirm
      title="It may have been paid already"
      verb="Forget it here"
      tone="danger"
      closeVerb="Keep it"
      mutation={idle}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        This forgets the payment in this browser and cancels nothing. Typed again, it can be made twice: look
        for its reference in Transactions first.
      </p>
    </Confirm>
  );
}
