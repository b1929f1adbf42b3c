import { SHELL_COMMAND } from '../../../../server/model/shell-command.ts';
import { useMissing } from '../../api/permissions.tsx';
import { storageProblem, usePlatformStatus } from '../../api/use-platform-status.ts';
import { useRead } from '../../api/use-read.ts';
import { Copy } from '../../components/copy.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { Pending } from '../../components/pending.tsx';
import { State } from '../../components/state.tsx';
import { AmountsTable } from './amounts-table.tsx';
import { ConfigurationTable } from './configuration-table.tsx';
import { SettingsGroup } from './settings-group.tsx';

const CONFIG_COMMAND = `${SHELL_COMMAND} config`;

/** The labels of known addresses, in display order; others follow under their own names. */
const ADDRESSES: Readonly<Record<string, string>> = {
  baseUrl: 'Control plane',
  metaUrl: 'Resource service',
  securityUrl: 'Security service',
  gatewayUrl: 'Gateway',
  crmUrl: 'Mock CRM',
  smtpUrl: 'Mock mail server',
  scmUrl: 'Source control',
};

export function PlatformTab() {
  const read = usePlatformStatus();
  const missing = useMissing('root');
  const status = read.data;
  if (!status) return <Pending query={read} />;
  const { addresses, store, processes, engines } = status;
  const problem = storageProblem(status);
  return (
    <div className="flex max-w-5xl flex-col gap-6 p-5">
      <SettingsGroup title="Addresses" note="Where clients find the services.">
        <KeyValue
          rows={Object.keys({ ...ADDRESSES, ...addresses }).map((key) => ({
            name: ADDRESSES[key] ?? key.replace(/Url$/, ''),
            value: addresses[key],
            copy: addresses[key],
            isMono: true,
          }))}
        />
        <a className="link mt-1" href="/docs" target="_blank" rel="noreferrer">
          Documentation of the API
        </a>
      </SettingsGroup>
      <SettingsGroup title="Store" note="The world is one readable file plus a journal of patches.">
        <KeyValue
          rows={[
            {
              name: 'State',
              value: <State is={problem === undefined ? 'ok' : 'error'}>{problem ?? 'saved'}</State>,
            },
            ...status.failed.map((sentence, at) => ({ name: `Problem ${at + 1}`, value: sentence })),
            ...(status.dataDir === undefined
              ? [{ name: 'Folder', value: 'visible only to platform-wide viewers' }]
              : [{ name: 'Folder', value: status.dataDir, copy: status.dataDir, isMono: true }]),
            ...(store.resources === undefined
              ? []
              : [{ name: 'Resources', value: store.resources.toLocaleString('en') }]),
            { name: 'Latest commit', value: store.seq },
          ]}
        />
      </SettingsGroup>
      <SettingsGroup title="Container engines" note="Where containers run.">
        {engines.length === 0 ? (
          <State is="idle">no engine is attached</State>
        ) : (
          <ul>
            {engines.map(({ address: at, state, version, reason, providers }) => (
              <li key={at} className="mb-2">
                <State is={state === 'ready' ? 'ok' : state === 'off' ? 'idle' : 'warning'}>
                  {state === 'off' ? 'switched off' : state} {version && `(${version})`}
                </State>
                {state !== 'off' && at && <p className="mono text-muted">{at}</p>}
                {providers.length > 0 && <p className="text-muted">for {providers.join(', ')}</p>}
                {reason && <p className={state === 'off' ? 'text-muted' : 'text-warn'}>{reason}</p>}
              </li>
            ))}
          </ul>
        )}
      </SettingsGroup>
      <SettingsGroup title="Processes" note="Child processes that run lambdas.">
        <KeyValue
          rows={[
            { name: 'Running', value: processes.processes },
            { name: 'Spare processes', value: processes.spares },
            { name: 'Busy', value: processes.running },
            { name: 'Waiting calls', value: processes.waiting },
          ]}
        />
      </SettingsGroup>
      {missing === undefined ? (
        <StorageAndConfiguration version={status.version} />
      ) : (
        <SettingsGroup title="Configuration" note="Settings, and the size of what is stored.">
          <p className="text-muted">{missing}</p>
        </SettingsGroup>
      )}
    </div>
  );
}

/** Stored data and configuration, for root. */
function StorageAndConfiguration({ version }: { version: string }) {
  // Sizes are read each time that the tab opens.
  const settings = useRead('settings', '/inspect/settings', {}, { staleTime: 0 });
  const { data } = settings;
  if (!data) return <Pending query={settings} />;
  return (
    <>
      <SettingsGroup
        title="On disk"
        note={
          data.folder === undefined
            ? 'Nothing: all data is in memory and is lost when the platform stops.'
            : 'Contents of the data folder by purpose. When a limit is reached, the oldest entries are deleted.'
        }
      >
        <AmountsTable label="On disk" amounts={data.stored} />
        {data.isCut && <p className="mt-1 text-warn">Too many files to measure: sizes are at least this.</p>}
      </SettingsGroup>
      <SettingsGroup title="In memory" note="The newest records, which this window shows first.">
        <AmountsTable label="In memory" amounts={data.memory} />
      </SettingsGroup>
      <SettingsGroup
        title="Configuration"
        isWide
        note="Order of precedence: command-line flags, environment variables, terrarium.json, defaults. Restart to apply changes."
      >
        <ConfigurationTable settings={data.settings} />
        <p className="mt-3 flex items-center gap-1 text-muted">
          <code className="rounded bg-raised px-1.5 py-0.5 text-text">{CONFIG_COMMAND}</code>
          <Copy text={CONFIG_COMMAND} subject="command" />
          prints the same. Version {version}.
        </p>
      </SettingsGroup>
    </>
  );
}
