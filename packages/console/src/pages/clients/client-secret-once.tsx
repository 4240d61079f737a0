import { ShownOnce } from "../../ui/dialogs/shown-once";

export function ClientSecretOnce({
  id,
  secret,
  onClose,
}: {
  id: string;
  secret: string | null;
  onClose: () => void;
}) {
  return (
    <ShownOnce title="Secret of the client" value={secret} onClose={onClose}>
      Put it where the program <code>{id}</code> reads its secrets. The service keeps a hash alone, so it is
      not shown again.
    </ShownOnce>
  );
}
