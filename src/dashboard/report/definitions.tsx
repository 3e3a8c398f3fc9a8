/** A definition of a figure beside it, with the papers that it is from. */
export function Definition({ of }: { of: keyof typeof definitions }) {
  const { text, papers } = definitions[of];
  return (
    <aside class="definition">
      <p>{text}</p>
      {papers.length === 0 ? null : (
        <ul>
          {papers.map((paper) => (
            <li key={paper}>{paper}</li>
          ))}
        </ul>
      )}
    </aside>
  );
}

const definitions = {
  doses: {
    text: "A dose is taken where the door of its weekday went up or down that day, late where it did so within six hours after it, missed where the box was heard all day and the door stayed as it was, and not known where it was not heard all day. An opened door is not a swallowed pill.",
    papers: [
      "A seven-day pill box that reports its doors (MedTracker), tried in 39 homes: PubMed Central PMC2911441.",
    ],
  },
  walking: {
    text: "Speed along a line of restricted-view infrared sensors, by least squares of the times at which they fired against their positions; walks that turned back, were not even or not seen by all sensors but one are left out. A box is the middle half of the week's walks with its median, the line reaches to the slowest and the fastest. The sensors cannot tell people apart.",
    papers: [
      "S. Hagler, D. Austin, T. L. Hayes, J. Kaye, M. Pavel: Unobtrusive and ubiquitous in-home monitoring: a methodology for continuous assessment of gait velocity in elders. IEEE Transactions on Biomedical Engineering 57 (2010) 813–820, doi:10.1109/TBME.2009.2036732.",
      "T. L. Hayes and others: Unobtrusive assessment of activity patterns associated with mild cognitive impairment. Alzheimer's & Dementia 4 (2008) 395–405, doi:10.1016/j.jalz.2008.07.004: the median walking speed varied twice as much in mild cognitive impairment.",
      "D. Austin, T. L. Hayes, J. Kaye, N. Mattek, M. Pavel: Unobtrusive monitoring of the longitudinal evolution of in-home gait velocity data with applications to elder care. EMBC 2011, 6495–6498, doi:10.1109/IEMBS.2011.6091603.",
    ],
  },
  activity: {
    text: "A mark is a minute in which the sensor told that somebody moved or that something was opened (bits 1 and 0 of its events). A minute without a mark means that nothing was told; whether anybody could have heard it shows the ground.",
    papers: [
      "T. L. Hayes and others: Unobtrusive assessment of activity patterns associated with mild cognitive impairment. Alzheimer's & Dementia 4 (2008) 395–405, doi:10.1016/j.jalz.2008.07.004.",
    ],
  },
  weights: {
    text: "Each weighing is a dot. A box is the middle half of a week's weighings with its median, the line reaches to the least and the greatest. The scale cannot tell who stood on it.",
    papers: [
      "Quartiles are of type 7: R. J. Hyndman, Y. Fan: Sample quantiles in statistical packages. The American Statistician 50 (1996).",
    ],
  },
  sleep: {
    text: "Minutes that the watch itself calls light, deep or REM sleep, of the episodes that ended on the day. Stretches of sleep that at most an hour parts are one episode. A day without a bar is one of which the watch told no sleep: where it was not worn, the ground says so.",
    papers: [
      "Breaks of up to an hour are joined as in V. T. van Hees and others: Estimating sleep parameters using an accelerometer without sleep diary. Scientific Reports 8 (2018) 12975, doi:10.1038/s41598-018-31266-z.",
    ],
  },
  missing: {
    text: "A minute is listened to where the driver of the gateway was listening and the device alive: no event means then that nothing happened. Otherwise the reason is named; unknown is what lies before the first sign of life, behind the last, or still ahead of today. Minutes of a row add up.",
    papers: [],
  },
} as const;
