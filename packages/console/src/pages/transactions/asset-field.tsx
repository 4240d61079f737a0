import { useAssets } from "../../api/catalog";
import { useScopes } from "../../session/use-me";
import { SelectField, TextField } from "../../ui/forms/text-field";

interface AssetFieldProps {
  value: string;
  fault: string | undefined;
  onValue: (asset: string) => void;
}

/** A choice of the assets of the service, or their code for a role that may not read them. */
export function AssetField(props: AssetFieldProps) {
  const assets = useAssets();
  if (!useScopes().includes("transactions:read"))
    return (
      <TextField
        label="Asset"
        hint="Its code, such as USD"
        required
        autoComplete="off"
        {...props}
        onValue={(asset) => props.onValue(asset.trim())}
      />
    );
  return (
    <SelectField label="Asset" required {...props}>
      <option value="">Choose</option>
      {assets.data?.data.map(({ code, network }) => (
        <option key={code} value={code}>
          {code} ({network})
        </option>
      ))}
    </SelectField>
  );
}
