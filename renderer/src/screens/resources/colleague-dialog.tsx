import { Copy } from 'lucide-react';
import { useRef, useState } from 'react';
import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { createPath } from '../../api/resource-kinds.ts';
import type { TreeNode } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { copyText } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Segments } from '../../parts/segments.tsx';
import { ROLE_CHOICES } from './roles-dialog.tsx';

/** In a new workspace there is a place to begin in. */
const ENVIRONMENT = 'development';
const ROLES = ROLE_CHOICES.filter(({ id }) => id !== 'none');

/** An account for somebody new, with a workspace of their own where one is in an organization, and a role there. */
export function ColleagueDialog({ at, onClose }: { at: TreeNode; onClose(): void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState(makePassword);
  const [typedWorkspace, setWorkspace] = useState<string>();
  const [role, setRole] = useState('developer');
  /** What is there already of a welcome that broke off: going on with it makes nothing twice. */
  const begun = useRef<{ user?: PlatformRecord; workspace?: PlatformRecord; environment?: PlatformRecord }>({}).current;
  const user = name.trim();
  const workspace = at.word === 'orgs' ? (typedWorkspace ?? user).trim() : '';
  // Four requests of the API, each a commit.
  const coming = useChange(async () => {
    begun.user ??= await send<PlatformRecord>('POST', '/meta/root/users', {
      name: user,
      // At the root: everybody signs in there. The window of theirs begins where they work.
      properties: { password, platform_home: at.fqon },
    });
    if (workspace !== '') {
      const path = createPath(at, 'workspaces');
      begun.workspace ??= await send<PlatformRecord>('POST', `/meta${path}`, { name: workspace, properties: {} });
      const parent = { word: 'workspaces', id: begun.workspace.id, fqon: at.fqon } as const;
      begun.environment ??= await send<PlatformRecord>('POST', `/meta${createPath(parent, 'environments')}`, {
        name: ENVIRONMENT,
        properties: { environment_type: 'development' },
      });
    }
    await send('PUT', `/inspect/roles/${begun.workspace?.id ?? at.id}`, { identities: [begun.user.id], role });
  });
  if (coming.isSuccess) return <Arrived name={user} password={password} onClose={onClose} />;
  const { user: account } = begun;
  return (
    <Dialog
      title={`New colleague in ${at.name}`}
      onClose={onClose}
      action={account ? 'Go on' : 'Create colleague'}
      onAction={coming.mutate}
      isReady={user !== '' && password !== ''}
      making={coming}
    >
      <div className="flex flex-col gap-3">
        <TextField label="User name" value={name} onChange={setName} isDisabled={account !== undefined} />
        <TextField label="Password" isMono value={password} onChange={setPassword} isDisabled={account !== undefined} />
        {at.word === 'orgs' && (
          <TextField
            label="New workspace"
            value={typedWorkspace ?? user}
            onChange={setWorkspace}
            isDisabled={begun.workspace !== undefined}
            placeholder={`none: the role is for all of ${at.name}`}
            description="With an environment, development, to begin in"
          />
        )}
        <div className="flex flex-col gap-1">
          <span className="text-[12px] text-muted">Role {workspace === '' ? `at ${at.name}` : 'there'}</span>
          <Segments label="Role" segments={ROLES} value={role} onChange={setRole} />
          <p className="text-[11.5px] text-faint">{ROLES.find(({ id }) => id === role)?.note}</p>
        </div>
        {coming.isError && account && (
          <p className="text-muted">The account {account.name} is there already; going on makes the rest.</p>
        )}
      </div>
    </Dialog>
  );
}

/** What to tell them: a password is shown once. */
function Arrived({ name, password, onClose }: { name: string; password: string; onClose(): void }) {
  const address = `${location.origin}/ui/`;
  return (
    <Dialog
      title={`${name} can come`}
      onClose={onClose}
      closing="Close"
      action="Copy what to tell them"
      icon={Copy}
      onAction={() => void copyText(`${address}\nUser name: ${name}\nPassword: ${password}`, 'what to tell')}
    >
      <KeyValue
        rows={[
          { name: 'Window', value: address, isMono: true },
          { name: 'User name', value: name, isMono: true },
          { name: 'Password', value: password, isMono: true },
        ]}
      />
      <p className="mt-3 text-muted">The password is not shown again; a new one can be set in the form of the user.</p>
    </Dialog>
  );
}

/** A password that can be told over the telephone: three groups of four letters, 60 bits. */
function makePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const text = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => letters[byte % 32]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}
