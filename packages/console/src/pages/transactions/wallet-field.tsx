import type { ReactNode } from "react";
import type { WalletNames } from "../../api/wallet-names";
import { Field } from "../../ui/forms/field";
import { plainly } from "../../ui/values/foreign-text";
import { ChosenWallet } from "./chosen-wallet";

interface WalletFieldProps {
  label: string;
  hint: ReactNode;
  /** The wallet that is meant, if it is known and can be read. */
  id: string | undefined;
  names: WalletNames | undefined;
  /** What can be chosen besides wallets. */
  addresses?: readonly { address: string; text: string }[];
  asset: string;
  pays: boolean;
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
  addresses = [],
  asset,
  pays,
  value,
  fault,
  onChange,
}: WalletFieldProps) {
  const list = `wallets-${label}`;
  return (
    <Field
      label={label}
      hint={
        id === undefined ? (
          hint
        ) : (
          <ChosenWallet id={id} asset={asset} pays={pays}>
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
            {addresses.map(({ address, text }) => (
              <option key={address} value={address}>
                {text}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
