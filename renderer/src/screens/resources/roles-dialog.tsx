import { useState } from 'react';
import { roleRoutes } from '../../../../server/api/routes/roles.ts';
import type { AnswerOf } from '../../../../server/api/routes/route.ts';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { keys } from '../../api/query-client.ts';
import type { TreeNode } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { useRead } from '../../api/use-read.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';
import { Dialog } from '../../components/dialog.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { FilterField, Select, Switch } from '../../components/fields.tsx';
import { Pending } from '../../components/pending.tsx';
import { toggled } from '../../toggled.ts';

type Roles = AnswerOf<typeof roleRoutes.readRoles>;

const ROLE_TYPES: readonly TypeWord[] = roleRoutes.readRoles.target.types;
/** Can people have roles at resources of this type? */
export const hasRoles = (collection: TypeWord): boolean => ROLE_TYPES.includes(collection);

/** The roles, in ascending order, and their removal. */
export const ROLE_CHOICES = [
  { id: 'viewer', text: 'Viewer', note: 'Can view everything here and below' },
  { id: 'developer', text: 'Developer', note: 'Can also create, change and run lambdas, APIs, containers and secrets' },
  { id: 'owner', text: 'Owner', note: 'Can do everything, including granting permissions' },
  { id: 'none', text: 'None', note: 'Removes permissions granted here. Inherited permissions stay.' },
];

/** Gives several users and groups a role, or the permissions of another user. */
export function RolesDialog({ resource, onClose }: { resource: TreeNode; onClose(): void }) {
  const at = `/inspect/roles/${resource.id}` as const;
  const roles = useRead(keys.world, at);
  const users = useWorld<PlatformRecord[]>('/users', { expand: true });
  const groups = useWorld<PlatformRecord[]>(`/${resource.fqon}/groups`, { expand: true });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [choice, setChoice] = useState('viewer');
  const [filter, setFilter] = useState('');
  const giving = useChange(
    (_, send) =>
      send('PUT', at, {
        identities: [...chosen],
        ...(choice.startsWith('as ') ? { sameAs: choice.slice(3) } : { role: choice }),
      }),
    {
      message: `Role changed for ${counted(chosen.size, 'user or group', 'users or groups')} at ${resource.name}.`,
      onDone: () => setChosen(new Set()),
    },
  );
  const holders = new Map(roles.data?.holders.map((holder) => [holder.id, holder]));
  const people = [...(users.data ?? []), ...(groups.data ?? [])].filter(({ name }) => name.includes(filter.trim()));
  const options = [
    ...ROLE_CHOICES,
    ...(roles.data?.holders ?? []).map(({ id, name }) => ({ id: `as ${id}`, text: `Same as ${name}` })),
  ];
  return (
    <Dialog
      title={`Roles at ${resource.name}`}
      onClose={onClose}
      width="medium"
      closing="Close"
      action={chosen.size === 0 ? 'Give role' : `Give role to ${chosen.size}`}
      onAction={giving.mutate}
      isReady={chosen.size > 0}
      making={giving}
    >
      {!roles.data && <Pending query={roles} rows={4} label="Loading the roles" />}
      <FailureNote error={users.error} />
      {roles.data && (
        <>
          <div className="flex flex-wrap items-end gap-3">
            <Select label="Role" options={options} value={choice} onChange={setChoice} className="w-64" />
            <FilterField label="Filter users and groups" value={filter} onChange={setFilter} className="w-56" />
          </div>
          <ul aria-label="Users and groups" className="mt-3 max-h-72 overflow-auto rounded-md border border-line">
            {people.map(({ id, name }) => {
              const holder = holders.get(id);
              return (
                <li key={id} className="flex min-h-8 items-center gap-2 border-b border-line/60 px-3 last:border-0">
                  <Switch isSelected={chosen.has(id)} onChange={(isOn) => setChosen(toggled(chosen, id, isOn))}>
                    {name}
                  </Switch>
                  <span className="ml-auto text-muted">{roleText(holder, roles.data.actions)}</span>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </Dialog>
  );
}

function roleText(holder: Roles['holders'][number] | undefined, actions: number): string {
  if (!holder) return 'no permissions here';
  const role = holder.role ?? `${holder.rights} of ${actions} permissions`;
  const roleSummary = holder.isOwn ? role : `${role}, inherited`;
  return holder.groups.length === 0 ? roleSummary : `${roleSummary}, with ${holder.groups.join(', ')}`;
}
