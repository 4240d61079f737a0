import type { WalletNames } from "../../api/wallet-names";
import { Field } from "../../ui/forms/field";
import { plainly } from "../../ui/values/foreign-text";
import { ChosenWallet } from "./chosen-wallet";

interface WalletFieldProps {
  label: string;
  hint: string;
  /** The wallet that is meant, if it is known. */
  id: string | undefined;
  names: WalletNames | undefined;
  asset: string;
  /** The wallet that is meant if the field is empty. */
  walletRole: "primary" | "settlement";
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

/** A wallet by its name or id, with what is known of it. */
export function WalletField({
  label,
  hint,
  id,
  names,
  asset,
  walletRole,
  value,
  fault,
  onChange,
}: WalletFieldProps) {
  const list = `wallets-${label}`;
  const isEmpty = value.trim() === "";
  return (
    <Field
      label={label}
      hint={
        id === undefined || names?.has(id) !== true ? (
          hint
        ) : (
          <ChosenWallet
            id={id}
            asset={asset}
            pays={walletRole === "primary"}
            {...(isEmpty ? { walletRole } : {})}
          >
            {hint}
          </ChosenWallet>
        )
      }
      fault={fault}
    >
      {(props) => (
        <>
          <input
            {...props}
            className="input mono"
            list={list}
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={list}>
            {[...(names ?? [])].map(([id, name]) => (
              <option key={id} value={id}>
                {plainly(name)}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
