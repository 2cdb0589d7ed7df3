// The rules of this project that no general linter knows. Each says its reason in its message.
import { browserSafe } from './browser-safe.js'
import { importDirection } from './import-direction.js'
import { processEnv } from './process-env.js'
import { purePlaces } from './pure-places.js'

export default {
  meta: { name: 'local' },
  rules: {
    'browser-safe': browserSafe,
    'import-direction': importDirection,
    'pure-places': purePlaces,
    'process-env': processEnv,
  },
}
