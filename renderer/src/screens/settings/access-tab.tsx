import { KeyRound, RefreshCw, Ticket } from 'lucide-react';
import { useState } from 'react';
import { useIdentity } from '../../api/use-identity.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { Pending } from '../../components/pending.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { AccessTable } from './access-table.tsx';
import { type CredentialKind, NewCredentialDialog } from './new-credential-dialog.tsx';
import { SettingsGroup } from './settings-group.tsx';
import { useKeysAndTokens } from './use-keys-and-tokens.ts';

export function AccessTab() {
  const [making, make] = useState<CredentialKind>();
  const me = useIdentity().data?.user;
  const users = useWorld<PlatformRecord[]>('/root/users', { expand: true }).data ?? [];
  const credentials = useKeysAndTokens();
  const { data } = credentials;
  const instead = <Pending query={credentials} />;
  const reload = (
    <IconButton icon={RefreshCw} label="Read keys and tokens again" onPress={() => void credentials.refetch()} />
  );
  return (
    <div className="flex max-w-5xl flex-col gap-6 p-5">
      <SettingsGroup title="You">
        <KeyValue
          rows={[
            { name: 'User', value: me && `${me.name}${me.isRoot ? ', root of the platform' : ''}` },
            { name: 'Account', value: me?.id, copy: me?.id, isMono: true },
          ]}
        />
      </SettingsGroup>
      <SettingsGroup
        title="API keys"
        note="User and password of Basic authentication, for programs. A secret is shown only once, when its key is created."
      >
        <div className="mb-1.5 flex w-full items-center gap-2">
          <Button icon={KeyRound} isDisabled={!me} onPress={() => make('key')}>
            New API key
          </Button>
          <span className="ml-auto">{reload}</span>
        </div>
        {data ? <AccessTable kind="key" credentials={data.keys} total={data.total.keys} /> : instead}
      </SettingsGroup>
      <SettingsGroup
        title="Access tokens"
        note="Valid bearer tokens of the security service, including the token of this window."
      >
        <Button icon={Ticket} isDisabled={!me} onPress={() => make('token')} className="mb-1.5">
          New access token
        </Button>
        {data ? <AccessTable kind="token" credentials={data.tokens} total={data.total.tokens} /> : instead}
      </SettingsGroup>
      {users.length > 0 && (
        <SettingsGroup title="Users" note="Users sign in here, and get tokens from the security service.">
          <ul aria-label="Users" className="w-full">
            {users.map(({ id, name, description, properties }) => (
              <li key={id} className="flex h-8 items-center gap-3 border-b border-line/60">
                <PlaceLink to={{ screen: 'resources', id }}>{name}</PlaceLink>
                <span className="truncate text-muted">{description}</span>
                {typeof properties.platform_home === 'string' && (
                  <span className="ml-auto text-muted">home {properties.platform_home}</span>
                )}
              </li>
            ))}
          </ul>
        </SettingsGroup>
      )}
      {making && me && (
        <NewCredentialDialog
          kind={making}
          users={[
            { id: me.id, name: `${me.name} (you)`, orgId: users.find(({ id }) => id === me.id)?.org.id },
            ...users.filter(({ id }) => id !== me.id).map(({ id, name, org }) => ({ id, name, orgId: org.id })),
          ]}
          onClose={() => make(undefined)}
        />
      )}
    </div>
  );
}
