import { useMutation } from '@tanstack/react-query';
import { CircleUser, Eye, LogOut, UserCog, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import { useIdentity } from '../api/identity.ts';
import { signOut } from '../api/session.ts';
import { lookAs } from '../api/view-as.ts';
import { fqonOf, type PlatformRecord, useScope, useWorld } from '../api/world.ts';
import { Dialog } from '../components/dialog.tsx';
import { Select } from '../components/fields.tsx';
import { Menu } from '../components/menu.tsx';
import { useGo } from '../url.ts';

/** Who is signed in; root can look as another user. */
export function UserMenu() {
  const who = useIdentity().data;
  const go = useGo();
  const [isChoosing, setChoosing] = useState(false);
  const { scope, orgs } = useScope();
  const others = orgs.filter((one) => fqonOf(one) !== 'root');
  const org = scope.org ?? (others.length === 1 ? others[0] : undefined);
  if (!who) return null;
  const { user, viewAs } = who;
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
              ]
            : []),
          ...(user.isRoot ? [{ id: 'as', text: 'View as…', icon: Eye, onAction: () => setChoosing(true) }] : []),
          { id: 'out', text: 'Sign out', icon: LogOut, startsGroup: true, onAction: () => void signOut() },
        ]}
      />
      {isChoosing && <ViewAsDialog own={user.id} onClose={() => setChoosing(false)} />}
    </>
  );
}

function ViewAsDialog({ own, onClose }: { own: string; onClose(): void }) {
  const users = useWorld<PlatformRecord[]>('/users', { expand: true });
  const [id, setId] = useState<string>();
  const others = (users.data ?? []).filter((one) => one.id !== own);
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
        options={others.map((one) => ({
          id: one.id,
          text: one.name,
          ...(one.description && { note: one.description }),
        }))}
        value={id}
        onChange={setId}
        placeholder={others.length === 0 ? 'no other users' : 'Choose a user'}
      />
      <p className="mt-3 text-muted">
        Every screen shows what this user can see. This mode is read-only. To leave it, use the button at the top.
      </p>
    </Dialog>
  );
}
