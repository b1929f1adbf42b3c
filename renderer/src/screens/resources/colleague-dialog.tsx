import { Copy } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { createPath } from '../../api/resource-kinds.ts';
import type { TreeNode } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { useRead } from '../../api/use-read.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { copyText } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { Segments } from '../../components/segments.tsx';
import { ROLE_CHOICES } from './roles-dialog.tsx';

/** In a new workspace there is a place to begin in. */
const ENVIRONMENT = 'development';
const ROLES = ROLE_CHOICES.filter(({ id }) => id !== 'none');

/** Creates an account for a colleague, with a workspace if opened in an organization, and a role there. */
export function ColleagueDialog({ at, onClose }: { at: TreeNode; onClose(): void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState(makePassword);
  const [typedWorkspace, setWorkspace] = useState<string>();
  const [role, setRole] = useState('developer');
  /** The resources that an earlier attempt has created, so that continuing creates nothing twice. */
  const createdResources = useRef<{ user?: PlatformRecord; workspace?: PlatformRecord; environment?: PlatformRecord }>(
    {},
  ).current;
  const user = name.trim();
  const workspace = at.word === 'orgs' ? (typedWorkspace ?? user).trim() : '';
  // Four requests of the API, each a commit.
  const coming = useChange(async () => {
    createdResources.user ??= await send<PlatformRecord>('POST', '/meta/root/users', {
      name: user,
      // At the root, where all users sign in. Their window starts in their organization.
      properties: { password, platform_home: at.fqon },
    });
    if (workspace !== '') {
      const path = createPath(at, 'workspaces');
      createdResources.workspace ??= await send<PlatformRecord>('POST', `/meta${path}`, {
        name: workspace,
        properties: {},
      });
      const parent = { word: 'workspaces', id: createdResources.workspace.id, fqon: at.fqon } as const;
      createdResources.environment ??= await send<PlatformRecord>(
        'POST',
        `/meta${createPath(parent, 'environments')}`,
        {
          name: ENVIRONMENT,
          properties: { environment_type: 'development' },
        },
      );
    }
    await send('PUT', `/inspect/roles/${createdResources.workspace?.id ?? at.id}`, {
      identities: [createdResources.user.id],
      role,
    });
  });
  if (coming.isSuccess) return <Arrived name={user} password={password} onClose={onClose} />;
  const { user: account } = createdResources;
  return (
    <Dialog
      title={`Invite a user to ${at.name}`}
      onClose={onClose}
      action={account ? 'Continue' : 'Create account'}
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
            isDisabled={createdResources.workspace !== undefined}
            placeholder={`none: the role is for all of ${at.name}`}
            description="With the environment development, to start in"
          />
        )}
        <div className="flex flex-col gap-1">
          <span className="text-small text-muted">Role {workspace === '' ? `at ${at.name}` : 'there'}</span>
          <Segments label="Role" segments={ROLES} value={role} onChange={setRole} />
          <p className="text-small text-faint">{ROLES.find(({ id }) => id === role)?.note}</p>
        </div>
        {coming.isError && account && (
          <p className="text-muted">The account {account.name} already exists. Continue to create the rest.</p>
        )}
      </div>
    </Dialog>
  );
}

/** The sign-in details; the password is shown only once. */
function Arrived({ name, password, onClose }: { name: string; password: string; onClose(): void }) {
  const address = `${location.origin}/ui/`;
  const settings = useRead(keys.status, '/inspect/settings').data?.settings;
  const host = String(settings?.find(({ key }) => key === 'host')?.value ?? '');
  return (
    <Dialog
      title={`Account created for ${name}`}
      onClose={onClose}
      closing="Close"
      action="Copy sign-in details"
      icon={Copy}
      onAction={() => void copyText(`${address}\nUser name: ${name}\nPassword: ${password}`, 'sign-in details')}
    >
      <KeyValue
        rows={[
          { name: 'Window', value: address, isMono: true },
          { name: 'User name', value: name, isMono: true },
          { name: 'Password', value: password, isMono: true },
        ]}
      />
      <p className="mt-3">{settings && reachText(host)}</p>
      <p className="mt-3 text-muted">The password is not shown again. To set a new one, edit the user.</p>
    </Dialog>
  );
}

const LOOPBACK_HOST = /^(?:localhost|127\..*|\[?::1\]?|.*\.localhost)$/;

/**
 * Returns a text that says on which machines the address works: other machines need another host name.
 * @param host address that the platform listens on
 */
function reachText(host: string): ReactNode {
  if (host === '' || LOOPBACK_HOST.test(host)) {
    return (
      <>
        This address works on this machine only, because the platform listens on {host || 'localhost'}. To let other
        machines in, start it with <code>--host 0.0.0.0</code> and a password of root.
      </>
    );
  }
  if (!LOOPBACK_HOST.test(location.hostname)) return 'This address works on every machine that can reach this one.';
  return `On another machine, replace ${location.hostname} with the IP address of this one.`;
}

/** A password that is easy to read aloud: three groups of four letters, 60 bits. */
function makePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const text = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => letters[byte % 32]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}
