import { ForgetQuestion } from "../../unanswered/forget-question";

/** Asks before a payment is forgotten that may have been made. */
export function ForgetPayment(answers: { onConfirm: () => void; onClose: () => void }) {
  return (
    <ForgetQuestion title="It may have been paid already" {...answers}>
      This forgets the payment in this browser and cancels nothing. Typed again, it can be made twice: look
      for its reference in Transactions first.
    </ForgetQuestion>
  );
}
