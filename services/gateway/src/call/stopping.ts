/** Why a running call was ended: this process had to stop, and its time to finish was over. */
export class Stopping extends Error {
  constructor() {
    super('the process is stopping')
  }
}
