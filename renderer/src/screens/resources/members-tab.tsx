import { UserPlus, X } from 'lucide-react';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import type { TreeNode } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { EmptyState, FailureNote } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { CurlNote } from './curl-note.tsx';
import { ResourcePicker } from './resource-picker.tsx';

export function MembersTab({ group }: { group: TreeNode }) {
  const path = `/${group.fqon}/groups/${group.id}/users`;
  const members = useWorld<PlatformRecord[]>(path, { expand: true });
  const [chosen, setChosen] = useState<string>();
  const changing = useChange(
    ({ method, id }: { method: 'PATCH' | 'DELETE'; id: string }) => send(method, `/meta${path}`, undefined, { id }),
    { onDone: () => setChosen(undefined) },
  );
  if (!members.data) return <Pending query={members} />;
  return (
    <div className="flex max-w-3xl flex-col gap-3 p-4">
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <ResourcePicker
            label="User to add"
            collections={['users']}
            value={chosen}
            onChange={(node) => setChosen(node?.id)}
          />
        </div>
        <Button
          icon={UserPlus}
          isDisabled={chosen === undefined}
          isPending={changing.isPending && changing.variables.method === 'PATCH'}
          onPress={() => chosen !== undefined && changing.mutate({ method: 'PATCH', id: chosen })}
        >
          Add to the group
        </Button>
      </div>
      <FailureNote error={changing.error} />
      {members.data.length === 0 ? (
        <EmptyState title="No members yet" text="Members have the permissions of the group." />
      ) : (
        <ul aria-label="Members">
          {members.data.map(({ id, name, description }) => (
            <li key={id} className="flex h-8 items-center gap-3 border-b border-line/60">
              <PlaceLink to={{ screen: 'resources', id }}>{name}</PlaceLink>
              <span className="truncate text-muted">{description}</span>
              <span className="ml-auto">
                <IconButton
                  icon={X}
                  label={`Remove ${name} from the group`}
                  onPress={() => changing.mutate({ method: 'DELETE', id })}
                />
              </span>
            </li>
          ))}
        </ul>
      )}
      <CurlNote method="PATCH" path={`/meta${path}`} query={{ id: chosen ?? 'USER_ID' }} />
    </div>
  );
}
