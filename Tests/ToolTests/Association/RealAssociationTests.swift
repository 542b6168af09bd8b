import Foundation
import TestSupport
import Testing

/// Associations of USGS's and EMSC's events of the same day, compared with lists made by hand.
///
/// The lists hold every pair of events that a person found to be the same earthquake, from all pairs at most
/// 600 km and two minutes apart, by their places, magnitudes and the other events near them. USGS's files of these
/// days are in the folder `USGS` (they are in the public domain); EMSC's are with the other real feeds.
@Suite struct RealAssociationTests {
  /// A day: its files, and the codes of the pairs, USGS's before EMSC's.
  struct Day: Sendable, CustomTestStringConvertible {
    let usgs: String
    let emsc: String
    let pairs: String
    /// How many of the pairs are outside the windows.
    let missed: Int
    /// Whether EMSC's file is imported before USGS's.
    let isEMSCFirst: Bool

    var testDescription: String { usgs }
    var files: [String] {
      [
        Tools.package + "/Tests/ToolTests/Association/USGS/" + usgs,
        Feeds.realFolder + "/other/" + emsc,
      ]
    }
    var isThere: Bool { files.allSatisfy { FileManager.default.fileExists(atPath: $0) } }

    /// As `quake.association` has them.
    var truth: Set<String> {
      let words = pairs.split(whereSeparator: \.isWhitespace)
      return Set(
        stride(from: 0, to: words.count, by: 2).map { "\(words[$0]) emsc:\(words[$0 + 1])" })
    }
  }

  static let days = [
    Day(
      usgs: "usgs_all_day_2024-04-24T0858Z.csv", emsc: "emsc_fdsn_2024-04-24T0901Z.json",
      pairs: """
        uu80067091 20240423_0000095 ok2024hzgk 20240423_0000104 tx2024hzfo 20240423_0000105
        uu80067111 20240423_0000108 pr71446258 20240423_0000112 tx2024hzha 20240423_0000116
        pr71446263 20240423_0000119 us6000mt6i 20240423_0000126 us6000mt6s 20240423_0000133
        us6000mt6n 20240423_0000134 us6000mt6v 20240423_0000138 us6000mt6m 20240423_0000141
        mb90047733 20240423_0000165 uu80067146 20240423_0000169 pr71446278 20240423_0000172
        pr71446298 20240423_0000179 pr71446288 20240423_0000180 us6000mt7i 20240423_0000181
        us6000mt7l 20240423_0000185 mb90047793 20240423_0000187 uu80067161 20240423_0000195
        tx2024hzrt 20240423_0000197 us6000mt8x 20240423_0000200 ak02458r7jsl 20240423_0000205
        us6000mt8y 20240423_0000206 us6000mt8w 20240423_0000208 ci40556335 20240423_0000232
        hv74182647 20240423_0000233 ci40556375 20240423_0000244 ci40556415 20240423_0000254
        tx2024iaew 20240423_0000259 us6000mtan 20240423_0000260 us6000mtas 20240423_0000262
        us6000mtap 20240423_0000266 pr71446323 20240423_0000268 tx2024iagj 20240423_0000275
        ak02458xafcx 20240423_0000279 ci40556479 20240424_0000001 hv74182922 20240424_0000002
        pr71446338 20240424_0000005 us6000mtc6 20240424_0000008 us6000mtc7 20240424_0000010
        hv74182982 20240424_0000011 ok2024iala 20240424_0000021 ci40556583 20240424_0000028
        us6000mtcx 20240424_0000030 us6000mtcd 20240424_0000033 us6000mtcg 20240424_0000041
        tx2024ianl 20240424_0000044 us6000mtd5 20240424_0000047 ci40556655 20240424_0000049
        us6000mtdh 20240424_0000052 hv74183152 20240424_0000056 ak0245a85t53 20240424_0000057
        nc74040141 20240424_0000059 us6000mte5 20240424_0000065 us6000mtef 20240424_0000068
        us6000mtec 20240424_0000069 nc74040156 20240424_0000072 ak0245a9dra9 20240424_0000073
        us6000mten 20240424_0000077 ak0245a9zdgy 20240424_0000087 pr2024115000 20240424_0000089
        us6000mteu 20240424_0000091 us6000mtex 20240424_0000092 us6000mtey 20240424_0000097
        """, missed: 0, isEMSCFirst: false),
    // us7000irw4 is in both catalogues with the same magnitude and place, but 70 s apart.
    Day(
      usgs: "usgs_all_day_2022-11-24T1318Z.csv", emsc: "emsc_fdsn_2022-11-24T1309Z.json",
      pairs: """
        us7000irta 20221123_0000130 ci40379888 20221123_0000131 hv73232977 20221123_0000134
        nn00851929 20221123_0000150 pr71383588 20221123_0000155 us7000irts 20221123_0000160
        ci40379928 20221123_0000163 ak022f11x41d 20221123_0000164 us7000irty 20221123_0000165
        us7000iru6 20221123_0000167 pr71383628 20221123_0000169 us7000irv5 20221123_0000172
        us7000irv9 20221123_0000173 tx2022wytk 20221123_0000177 tx2022wyuj 20221123_0000182
        pr71383643 20221123_0000183 hv73233257 20221123_0000194 us7000irw4 20221123_0000196
        hv73233307 20221123_0000197 us7000irwe 20221123_0000211 us7000irwm 20221123_0000215
        uu60526197 20221123_0000216 uu60526207 20221123_0000219 us7000irx0 20221123_0000221
        ak022f11toqt 20221123_0000222 us7000irx8 20221123_0000223 ci40380048 20221123_0000225
        us7000irv8 20221123_0000227 nc73810741 20221123_0000229 us7000irxs 20221123_0000231
        nc73810766 20221123_0000236 pr71383653 20221123_0000240 pr71383658 20221123_0000241
        ak022f11ahjf 20221123_0000258 us7000iryc 20221124_0000002 pr71383663 20221124_0000003
        us7000iryp 20221124_0000004 us7000iryq 20221124_0000005 pr71383673 20221124_0000010
        pr71383683 20221124_0000011 us7000irz7 20221124_0000016 pr71383688 20221124_0000019
        pr71383693 20221124_0000021 pr71383698 20221124_0000027 us7000irzw 20221124_0000033
        pr71383708 20221124_0000036 pr71383713 20221124_0000037 pr71383718 20221124_0000038
        pr71383728 20221124_0000039 nn00851982 20221124_0000040 us7000is05 20221124_0000045
        us7000is09 20221124_0000050 us7000is06 20221124_0000052 pr2022328000 20221124_0000053
        pr2022328001 20221124_0000054 us7000is0e 20221124_0000057 ci40380264 20221124_0000058
        pr71383773 20221124_0000059 pr71383758 20221124_0000062 us7000is0s 20221124_0000064
        us7000is0n 20221124_0000066 pr71383788 20221124_0000069 pr71383793 20221124_0000070
        hv73233897 20221124_0000071 us7000is0z 20221124_0000073 nc73810921 20221124_0000077
        nc73810946 20221124_0000079 pr71383813 20221124_0000080 pr71383828 20221124_0000082
        pr71383803 20221124_0000083 pr71383808 20221124_0000085 us7000is1c 20221124_0000091
        """, missed: 1, isEMSCFirst: true),
  ]

  @Test(
    .enabled(if: days.contains(where: \.isThere), "no real feeds of EMSC in QUAKE_REAL_FEEDS"),
    arguments: days.filter(\.isThere))
  func associationsOfRealFeedsHaveTheKnownFigures(day: Day) throws {
    let database = try TestDatabase()
    try database.succeed("quake-admin", ["associations", "enable"])
    for file in day.isEMSCFirst ? day.files.reversed() : day.files {
      try database.succeed("quake-ingest", ["import", file])
    }
    let found = Set(
      try database.column(
        "select preferred || ' ' || code from quake.association where code <> preferred"))
    let truth = day.truth
    let (wrong, missed) = (found.subtracting(truth), truth.subtracting(found))
    let precision = Double(found.count - wrong.count) / Double(max(found.count, 1))
    let recall = Double(truth.count - missed.count) / Double(truth.count)
    print(
      "\(day.usgs): \(found.count) pairs found, \(missed.count) missed, \(wrong.count) wrong; "
        + "precision \(precision), recall \(recall)")
    #expect(wrong == [])
    #expect(missed.count == day.missed, "\(missed)")
    #expect(precision == 1)
    #expect(recall > 0.98)
    #expect(
      try database.count("quake.current_quake") == database.count("quake.quake") - found.count)
  }
}
