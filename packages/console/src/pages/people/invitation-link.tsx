import type { Invitation } from "@bursar/client";
import { ShownOnce } from "../../ui/dialogs/shown-once";

/** The link with which a person registers a passkey. */
export function InvitationLink({
  invitation,
  onClose,
}: {
  invitation: Invitation | null;
  onClose: () => void;
}) {
  return (
    <ShownOnce title="Link of the invitation" value={invitation?.url ?? null} onClose={onClose}>
      Hand it to the person over a channel that you trust. It works once, within 30 minutes, and is not shown
      again.
    </ShownOnce>
  );
}
