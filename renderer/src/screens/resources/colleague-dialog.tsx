import { Copy } from 'lucide-react';
import { useRef, useState } from 'react';
import { useChange } from '../../api/change.ts';
import type { TreeNode } from '../../api/tree.ts';
import { copyText } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Segments } from '../../parts/segments.tsx';
import { ROLE_CHOICES } from './roles.ts';
import { type Begun, makePassword, welcome } from './welcome.ts';

const ROLES = ROLE_CHOICES.filter(({ id }) => id !== 'none');

/** An account for somebody new, with a workspace of their own where one is in an organization, and a role there. */
export function ColleagueDialog({ at, onClose }: { at: TreeNode; onClose(): void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState(makePassword);
  const [typedWorkspace, setWorkspace] = useState<string>();
  const [role, setRole] = useState('developer');
  const begun = useRef<Begun>({});
  const user = name.trim();
  const workspace = at.word === 'orgs' ? (typedWorkspace ?? user).trim() : '';
  const coming = useChange(() => welcome({ at, name: user, password, workspace, role }, begun.current));
  if (coming.isSuccess) return <Arrived name={user} password={password} onClose={onClose} />;
  const { user: account } = begun.current;
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
            isDisabled={begun.current.workspace !== undefined}
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
