import { CopyButton } from "../values/copy-button";
import { Modal } from "./modal";
import { StoredButton } from "./stored-button";
import { useHeldPage } from "./use-held-page";

interface SecretOnceProps {
  title: string;
  secret: string;
  keyId: string;
  onDone: () => void;
}

/** A secret that is shown once and never again. Only the button closes it. */
export function SecretOnce({ title, secret, keyId, onDone }: SecretOnceProps) {
  useHeldPage(true);
  return (
    <Modal title={title}>
      <div className="notice stack" data-tone="wait" role="status">
        <p>
          <strong>Store this secret now.</strong> It is shown once. Receivers use it to verify signatures.
        </p>
        <div className="row">
          <code className="wrap-anywhere">{secret}</code>
          <CopyButton text={secret} label="Copy the secret" />
        </div>
        <p className="small">
          Its key id in RFC 9421 signatures is <code>{keyId}</code>.
        </p>
        <div className="row">
          <StoredButton onDone={onDone}>I have stored it</StoredButton>
        </div>
      </div>
    </Modal>
  );
}
