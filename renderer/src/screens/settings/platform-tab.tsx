import { usePlatformStatus } from '../../api/platform-status.ts';
import { useRead } from '../../api/read.ts';
import { Copy } from '../../parts/copy.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Pending } from '../../parts/pending.tsx';
import { State } from '../../parts/state.tsx';
import { AmountsTable } from './amounts-table.tsx';
import { ConfigurationTable } from './configuration-table.tsx';
import { SettingsGroup } from './settings-group.tsx';

const CONFIG_COMMAND = 'terrarium config';

/** The platform as it was started. */
export function PlatformTab() {
  const read = usePlatformStatus();
  const status = read.data;
  if (!status) return <Pending query={read} />;
  const { addresses, store, processes, engines } = status;
  const address = (name: string, url: string | undefined) => ({ name, value: url, copy: url, isMono: true });
  return (
    <div className="flex max-w-5xl flex-col gap-6 p-5">
      <SettingsGroup title="Addresses" note="Where clients find the services.">
        <KeyValue
          rows={[
            address('Control plane', addresses.baseUrl),
            address('Resource service', addresses.metaUrl),
            address('Security service', addresses.securityUrl),
            address('Gateway', addresses.gatewayUrl),
            address('CRM stand-in', addresses.crmUrl),
            address('Source control', addresses.scmUrl),
          ]}
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
              value: <State is={store.isHealthy ? 'ok' : 'error'}>{store.isHealthy ? 'saved' : 'not saved'}</State>,
            },
            ...(status.dataDir === undefined
              ? [{ name: 'Folder', value: 'told to those who may look at the whole platform' }]
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
                <p className="mono text-muted">{at}</p>
                <p className="text-muted">for {providers.join(', ')}</p>
                {reason && <p className="text-warn">{reason}</p>}
              </li>
            ))}
          </ul>
        )}
      </SettingsGroup>
      <SettingsGroup title="Processes" note="Children that run the code of lambdas.">
        <KeyValue
          rows={[
            { name: 'Alive', value: processes.processes },
            { name: 'Spares kept ready', value: processes.spares },
            { name: 'At work', value: processes.running },
            { name: 'Calls that wait', value: processes.waiting },
          ]}
        />
      </SettingsGroup>
      <SetUp version={status.version} />
    </div>
  );
}

/** What is kept and how it was configured: for the root user, who may read it. */
function SetUp({ version }: { version: string }) {
  // Sizes are looked up whenever one looks.
  const settings = useRead('settings', '/inspect/settings', {}, { staleTime: 0 });
  const { data } = settings;
  if (!data) return <Pending query={settings} />;
  return (
    <>
      <SettingsGroup
        title="On disk"
        note={
          data.folder === undefined
            ? 'Nothing: all is in memory, and goes when the platform stops.'
            : 'What the data folder holds, by purpose. The oldest goes when a cap is reached.'
        }
      >
        <AmountsTable label="On disk" amounts={data.stored} />
        {data.isCut && <p className="mt-1 text-warn">There are too many files to measure: sizes are at least this.</p>}
      </SettingsGroup>
      <SettingsGroup title="In memory" note="What this window shows first: of records the newest are in memory.">
        <AmountsTable label="In memory" amounts={data.memory} />
      </SettingsGroup>
      <SettingsGroup
        title="Configuration"
        isWide
        note="Flags win over variables, these over terrarium.json, that over the defaults. A change takes a restart."
      >
        <ConfigurationTable settings={data.settings} />
        <p className="mt-3 flex items-center gap-1 text-muted">
          <code className="rounded bg-raised px-1.5 py-0.5 text-text">{CONFIG_COMMAND}</code>
          <Copy text={CONFIG_COMMAND} what="command" />
          prints the same. Version {version}.
        </p>
      </SettingsGroup>
    </>
  );
}
