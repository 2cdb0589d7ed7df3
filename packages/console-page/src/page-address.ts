/** Path of the console. Every URL in the built files starts with it. */
export const pageAddress = '/console'
