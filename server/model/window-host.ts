/** Browsers resolve names below `localhost` to this machine. An own name keeps the window's cookie from other servers (D-214). */
export const WINDOW_HOST = 'terrarium.localhost';
