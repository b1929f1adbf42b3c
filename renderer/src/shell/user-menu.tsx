import { useMutation } from '@tanstack/react-query';
import { CircleUser, Eye, LogOut, UserCog, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import { signOut } from '../api/session.ts';
import { useIdentity } from '../api/use-identity.ts';
import { fqonOf, type PlatformRecord, useScope, useWorld } from '../api/use-world.ts';
import { lookAs } from '../api/view-as.ts';
import { Dialog } from '../components/dialog.tsx';
import { Select } from '../components/fields.tsx';
import { Menu } from '../components/menu.tsx';
import { useGo } from '../url.ts';

/** Shows who is signed in. Root can look as another user. */
export function UserMenu() {
  const identity = useIdentity().data;
  const go = useGo();
  const [isChoosing, setChoosing] = useState(false);
  const { scope, orgs } = useScope();
  const otherOrgs = orgs.filter((org) => fqonOf(org) !== 'root');
  const org = scope.org ?? (otherOrgs.length === 1 ? otherOrgs[0] : undefined);
  if (!identity) return null;
  const { user, viewAs } = identity;
  return (
    <>
      {viewAs && (
        <span className="flex h-6 shrink-0 items-center gap-1.5 rounded-full border border-warn/50 bg-warn-soft px-2.5">
          <Eye aria-hidden size={13} />
          Viewing as {viewAs.name} (read-only)
          <AriaButton className="min-h-6 underline" onPress={() => void lookAs(null)}>
            Stop
          </AriaButton>
        </span>
      )}
      <Menu
        label={`Signed in as ${user.name}`}
        trigger={
          <AriaButton className="flex h-7 shrink-0 items-center gap-1.5 rounded-md px-1.5 data-[hovered]:bg-raised">
            <CircleUser aria-hidden size={15} />
            <span className="sr-only">Signed in as </span>
            <span className="max-w-28 truncate">{user.name}</span>
          </AriaButton>
        }
        entries={[
          {
            id: 'access',
            text: 'Keys and tokens',
            icon: UserCog,
            onAction: () => go({ screen: 'settings', search: { tab: 'access' } }),
          },
          ...(user.isRoot
            ? [
                {
                  id: 'invite',
                  text: 'Invite a user…',
                  icon: UserPlus,
                  onAction: () => go({ screen: 'resources', id: org?.id, search: { new: 'colleague' } }),
                },
                { id: 'as', text: 'View as…', icon: Eye, onAction: () => setChoosing(true) },
              ]
            : []),
          { id: 'out', text: 'Sign out', icon: LogOut, startsGroup: true, onAction: () => void signOut() },
        ]}
      />
      {isChoosing && <ViewAsDialog ownId={user.id} onClose={() => setChoosing(false)} />}
    </>
  );
}

function ViewAsDialog({ ownId, onClose }: { ownId: string; onClose(): void }) {
  const users = useWorld<PlatformRecord[]>('/users', { expand: true });
  const [id, setId] = useState<string>();
  const otherUsers = (users.data ?? []).filter((user) => user.id !== ownId);
  const looking = useMutation({ mutationFn: lookAs, onSuccess: onClose });
  return (
    <Dialog
      title="View as"
      onClose={onClose}
      action="View as user"
      onAction={() => id !== undefined && looking.mutate(id)}
      isReady={id !== undefined}
      making={looking}
    >
      <Select
        label="User"
        options={otherUsers.map((user) => ({
          id: user.id,
          text: user.name,
          ...(user.description && { note: user.description }),
        }))}
        value={id}
        onChange={setId}
        placeholder={otherUsers.length === 0 ? 'no other users' : 'Choose a user'}
      />
      <p className="mt-3 text-muted">
        Every screen shows what this user can see. This mode is read-only. To leave it, use the button at the top.
      </p>
    </Dialog>
  );
}
