import type { ContentsPart, NavigationEvent, SessionPart } from './electron-parts.ts';
import { isExternalLink } from './external-link.ts';

/** What the guards ask the shell. */
export interface GuardPosts {
  /** Is it a page of the platform, or the shell's own? */
  isOurs(url: string): boolean;
  openExternal(url: string): void;
  /** An address that means something to the shell itself; true when it was one. */
  act(url: string): boolean;
}

const GRANTED = ['clipboard-sanitized-write'];

/** A page gets no camera, no device, no notification: nothing but writing text to the clipboard, and only ours. */
export function guardSession(session: SessionPart, isOurs: GuardPosts['isOurs']): void {
  const isGranted = (permission: string, url: string) => GRANTED.includes(permission) && isOurs(url);
  session.setPermissionRequestHandler((_contents, permission, callback, { requestingUrl }) =>
    callback(isGranted(permission, requestingUrl)),
  );
  session.setPermissionCheckHandler((_contents, permission, origin) => isGranted(permission, origin));
  session.setDevicePermissionHandler(() => false);
}

/** A page leads nowhere but to ours: other links open outside, and no window or web view comes of it. */
export function guardContents(contents: ContentsPart, posts: GuardPosts): void {
  const { isOurs, openExternal, act } = posts;
  contents.on('will-frame-navigate', (event) => {
    if (isOurs(event.url)) return;
    event.preventDefault();
    // A frame within the page goes nowhere else, and opens nothing by itself.
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
