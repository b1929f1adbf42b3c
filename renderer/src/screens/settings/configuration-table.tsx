import type { SettingView } from '../../../../server/api/routes/window.ts';
import { EmptyState, NoMatch } from '../../components/empty-state.tsx';
import { Switch } from '../../components/fields.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Badge } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { useSearch } from '../../url.ts';
import { isFound, isSet, valueText } from './value-text.ts';

const CHANGED = 'changed';
const SOURCES: Record<SettingView['source'], string> = {
  default: 'default',
  file: 'file',
  environment: 'variable',
  flag: 'flag',
  option: 'program',
};

/** Every setting with its value, its origin and the ways to change it. */
export function ConfigurationTable({ settings }: { settings: readonly SettingView[] }) {
  const [{ q = '', show }, change] = useSearch();
  const filteredSettings = settings.filter(
    (setting) => (show !== CHANGED || setting.source !== 'default') && isFound(setting, q),
  );
  return (
    <>
      <div className="flex w-full flex-wrap items-center gap-3">
        <FindField label="Filter the settings" placeholder="Name, flag, variable or purpose" className="w-72" />
        <Switch isSelected={show === CHANGED} onChange={(isOn) => change({ show: isOn ? CHANGED : undefined })}>
          Show changed settings only
        </Switch>
        <span className="ml-auto text-muted">
          {filteredSettings.length} of {settings.length}
        </span>
      </div>
      {filteredSettings.length === 0 && q.trim() !== '' && (
        <NoMatch subject="settings" onClear={() => change({ q: undefined })} />
      )}
      {filteredSettings.length === 0 && q.trim() === '' && (
        <EmptyState
          title="All settings have their default values"
          text="No flag, environment variable or file changes a setting."
        />
      )}
      {filteredSettings.length > 0 && (
        <table aria-label="Settings" className="mt-2 w-full table-fixed text-left">
          <TableHead
            cell="pr-3"
            heads={[{ text: 'Setting', className: 'w-[38%]' }, { text: 'Value', className: 'w-[22%]' }, 'Said by']}
          />
          <tbody>{filteredSettings.map(settingRow)}</tbody>
        </table>
      )}
    </>
  );
}

function settingRow(setting: SettingView) {
  const { key, description, source, origin, flag, env } = setting;
  return (
    <tr key={key} className="border-b border-line/60 align-top">
      <th scope="row" className="py-1.5 pr-3 font-normal">
        <span className="mono block break-words text-text">{key}</span>
        <span className="block text-small text-muted">{description}</span>
      </th>
      <td className="mono py-1.5 pr-3 break-words">
        {isSet(setting) ? valueText(setting) : <span className="text-faint">not set</span>}
      </td>
      <td className="py-1.5">
        <div className="flex items-start gap-2">
          <Badge tone={source === 'default' ? 'plain' : 'accent'}>{SOURCES[source]}</Badge>
          {source === 'default' ? (
            <span className="mono min-w-0 text-small break-words text-faint">
              {flag}
              <br />
              {env}
            </span>
          ) : (
            <span className="mono min-w-0 break-words">{origin.replace(/^option /, '')}</span>
          )}
        </div>
      </td>
    </tr>
  );
}
