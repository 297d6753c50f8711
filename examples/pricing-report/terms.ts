/** What is agreed between the processes, the page and the person of the story. */
/** Name of the run in its store. */
export const RUN = 'pricing-report'
export const REPORT = 'pricing-report.html'

/** What the program may call that the process dies under: as its node in the plan says. */
export const PROGRAM_GRANTS: readonly string[] = ['net.fetch', 'clock.sleep']

/** SKUs of which the price service has lost the prices, by how they begin. */
export const LOST: readonly string[] = ['GAR']

/** Who says what. */
export const MODEL = 'model'
export const PERSON = 'ada'
