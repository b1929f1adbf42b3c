import { useMutation, useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { type PlatformRecord, useWorld } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { SettingsGroup } from './settings-group.tsx';

interface SessionUser {
  user: { id: string; name: string; isRoot: boolean };
}

/** Who one is, who else there is, and a key for programs. */
export function AccessTab() {
  const me = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => load<SessionUser>('/inspect/session', {}, signal),
  }).data?.user;
  const users = useWorld<PlatformRecord[]>('/root/users', { expand: true }).data ?? [];
  const org = useWorld<PlatformRecord>('/root').data;
  const making = useMutation({
    mutationFn: () => send<Record<string, unknown>>('POST', `/security/accounts/${me?.id}/apiKeys`, { orgId: org?.id }),
  });
  const made = making.data && Object.entries(making.data).filter(([, value]) => typeof value === 'string');
  return (
    <div className="flex max-w-3xl flex-col gap-6 p-5">
      <SettingsGroup title="You">
        <KeyValue
          rows={[
            { name: 'User', value: me && `${me.name}${me.isRoot ? ', root of the platform' : ''}` },
            { name: 'Account', value: me?.id, copy: me?.id, isMono: true },
          ]}
        />
      </SettingsGroup>
      <SettingsGroup
        title="API key"
        note="For programs: user and password of Basic authentication. The secret is shown once."
      >
        <Button icon={KeyRound} isDisabled={!me || !org} isPending={making.isPending} onPress={() => making.mutate()}>
          Create a key of yours
        </Button>
        {making.error && (
          <div className="mt-2">
            <FailureNote failure={failureOf(making.error)} />
          </div>
        )}
        {made && (
          <div className="card mt-3 w-full px-3 py-1">
            <KeyValue
              rows={made.map(([name, value]) => ({ name, value: String(value), copy: String(value), isMono: true }))}
            />
          </div>
        )}
      </SettingsGroup>
      <SettingsGroup title="Users" note="They sign in here, and get tokens at the security service.">
        <ul className="w-full">
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
    </div>
  );
}
