import { useMutation } from '@tanstack/react-query';
import { CircleUser, Eye, LogOut, UserCog } from 'lucide-react';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import { signOut } from '../api/session.ts';
import { lookAs, useWho } from '../api/who.ts';
import { type PlatformRecord, useWorld } from '../api/world.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Select } from '../parts/fields.tsx';
import { Menu } from '../parts/menu.tsx';
import { useGo } from '../url.ts';

/** Who is signed in; root can look with the eyes of another. */
export function UserMenu() {
  const who = useWho().data;
  const go = useGo();
  const [isChoosing, setChoosing] = useState(false);
  if (!who) return null;
  const { user, eyes } = who;
  return (
    <>
      {eyes && (
        <span className="flex h-6 shrink-0 items-center gap-1.5 rounded-full border border-warn/50 bg-warn-soft px-2.5">
          <Eye aria-hidden size={13} />
          as {eyes.name}, changing nothing
          <AriaButton className="min-h-6 underline" onPress={() => void lookAs(null)}>
            End
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
          ...(user.isRoot ? [{ id: 'as', text: 'See it as…', icon: Eye, onAction: () => setChoosing(true) }] : []),
          { id: 'out', text: 'Sign out', icon: LogOut, startsGroup: true, onAction: () => void signOut() },
        ]}
      />
      {isChoosing && <EyesDialog own={user.id} onClose={() => setChoosing(false)} />}
    </>
  );
}

function EyesDialog({ own, onClose }: { own: string; onClose(): void }) {
  const users = useWorld<PlatformRecord[]>('/users', { expand: true });
  const [id, setId] = useState<string>();
  const others = (users.data ?? []).filter((one) => one.id !== own);
  const looking = useMutation({ mutationFn: lookAs, onSuccess: onClose });
  return (
    <Dialog
      title="See it as"
      onClose={onClose}
      action="See it"
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
        placeholder={others.length === 0 ? 'there is no other user' : 'Choose a user'}
      />
      <p className="mt-3 text-muted">
        Every screen shows what this user's rights show, until you end it at the top. Nothing can be changed meanwhile.
      </p>
    </Dialog>
  );
}
