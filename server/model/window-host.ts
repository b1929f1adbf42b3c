/**
 * The name under which the window is opened. Browsers lead every name below `localhost` to this machine by themselves, and keep
 * cookies by name whatever the port: under a name of its own the window's cookie is sent to nobody else (D-214).
 */
export const WINDOW_HOST = 'terrarium.localhost';
