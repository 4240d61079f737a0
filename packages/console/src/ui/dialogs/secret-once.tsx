import { CopyButton } from "../values/copy-button";

/** A secret that is shown once and never again. */
export function SecretOnce({ secret, keyId, onDone }: { secret: string; keyId: string; onDone: () => void }) {
  return (
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
        <button type="button" className="button" data-tone="primary" onClick={onDone}>
          I have stored it
        </button>
      </div>
    </div>
  );
}
