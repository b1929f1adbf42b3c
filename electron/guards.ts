import type { ContentsPart, NavigationEvent, SessionPart } from './electron-parts.ts';

const MAX_LENGTH = 8_192;
const PROTOCOLS = ['http:', 'https:', 'mailto:'];

/** Returns true for an address that the system may open. A `file:` or `ssh:` link of a page could start any program. */
export function isExternalLink(url: unknown): url is string {
  if (typeof url !== 'string' || url.length > MAX_LENGTH || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return PROTOCOLS.includes(protocol) && !username && !password;
}

/** The functions of the shell that the guards call. */
export interface GuardPosts {
  /** Returns true for a page of the platform. */
  isOurs(url: string): boolean;
  openExternal(url: string): void;
  /** Handles an address of the shell itself; returns whether it was one. */
  act(url: string): boolean;
}

const GRANTED = ['clipboard-sanitized-write'];

/** Denies pages all permissions, except that the platform's own pages may write text to the clipboard. */
export function guardSession(session: SessionPart, isOurs: GuardPosts['isOurs']): void {
  const isGranted = (permission: string, url: string) => GRANTED.includes(permission) && isOurs(url);
  session.setPermissionRequestHandler((_contents, permission, callback, { requestingUrl }) =>
    callback(isGranted(permission, requestingUrl)),
  );
  session.setPermissionCheckHandler((_contents, permission, origin) => isGranted(permission, origin));
  session.setDevicePermissionHandler(() => false);
}

/** Allows navigation only to the platform's own pages: other links open in the browser. Denies new windows and web views. */
export function guardContents(contents: ContentsPart, posts: GuardPosts): void {
  const { isOurs, openExternal, act } = posts;
  contents.on('will-frame-navigate', (event) => {
    if (isOurs(event.url)) return;
    event.preventDefault();
    // A frame in the page may not navigate elsewhere, and opens no link by itself.
    if (!event.isMainFrame || act(event.url)) return;
    if (isExternalLink(event.url)) openExternal(event.url);
  });
  const stay = (event: NavigationEvent) => {
    if (!isOurs(event.url)) event.preventDefault();
  };
  contents.on('will-navigate', stay);
  contents.on('will-redirect', stay);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (isExternalLink(url)) openExternal(url);
    return { action: 'deny' };
  });
}
