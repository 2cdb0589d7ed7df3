/** Where the console is served; every address that the built files name begins with it. */
export const pageAddress = '/console'
