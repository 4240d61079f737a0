import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { SelectField } from "../../ui/forms/text-field";
import { describeRole } from "./role-words";

export function useRoles() {
  return useQuery({
    queryKey: ["roles"],
    queryFn: ({ signal }) => bursar.roles.list({ signal }),
    staleTime: 60_000,
  });
}

interface RoleFieldProps {
  value: string;
  fault: string | undefined;
  onValue: (role: string) => void;
}

/** A role that the caller may give: nobody grants a scope that they lack. */
export function RoleField({ value, fault, onValue }: RoleFieldProps) {
  const own = useScopes();
  const roles = useRoles().data?.data ?? [];
  const mayGrant = roles.filter(({ scopes }) => scopes.every((scope) => own.includes(scope)));
  const chosen = roles.find(({ name }) => name === value);
  return (
    <SelectField
      label="Role"
      value={value}
      fault={fault}
      onValue={onValue}
      hint={chosen === undefined ? "Roles with a scope that you lack are not listed" : describeRole(chosen)}
    >
      <option value="">Choose</option>
      {value !== "" && !mayGrant.some(({ name }) => name === value) && <option>{value}</option>}
      {mayGrant.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </SelectField>
  );
}
