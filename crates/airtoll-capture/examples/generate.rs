//! Writes a large capture for measurements: a CCMP network at 54 Mb/s with TCP-like traffic.
//!
//! `generate OUT MEGABYTES`; prints the key. Of eight frames, two are full-size data, two short
//! data, four acknowledgements; every hundredth is a beacon.

#[path = "../tests/network/mod.rs"]
mod network;

use airtoll_capture::file::PcapNgWriter;
use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::ieee80211::ControlRepr;
use network::{Link, on_air, udp};

const STATIONS: u8 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name a file")?;
    let limit: u64 = arguments.next().ok_or("say how many megabytes")?.parse()?;
    let mut out = PcapNgWriter::new(std::io::BufWriter::new(std::fs::File::create(&path)?))?;
    let air = out.add_interface(127, "air")?;
    let (mut time, mut written, mut frames) = (1_700_000_000_000_000_000u64, 0, 0u64);
    let mut put = |octets: &[u8], time: &mut u64| -> std::io::Result<u64> {
        *time += 40_000 + octets.len() as u64 * 148;
        out.write_packet(air, *time, octets)?;
        Ok(octets.len() as u64 + 32)
    };
    let mut links = Vec::new();
    for number in 0..STATIONS {
        let mut link = Link::new(AkmSuite::Psk, CipherSuite::Ccmp128);
        link.station.0[5] = number;
        link.snonce[0] = number;
        let mut start = vec![link.beacon()];
        start.extend(link.association());
        for (index, message) in link.four_way().iter().enumerate() {
            start.push(link.eapol(index % 2 == 1, message));
        }
        for frame in start {
            written += put(&on_air(12, &frame), &mut time)?;
            frames += 1;
        }
        let key = CcmpKey::new(link.ptk().tk())?;
        links.push((link, key));
    }
    let (large, small) = (udp(1432, 7), udp(24, 8));
    let mut beacon = links[0].0.beacon();
    while written < limit * 1_000_000 {
        let chosen = (frames / 8 % u64::from(STATIONS)) as usize;
        let (link, key) = &mut links[chosen];
        for (up, msdu) in [
            (true, &large),
            (true, &large),
            (false, &small),
            (false, &small),
        ] {
            let plain = link.data(up, false, msdu);
            let mut frame = plain[..26].to_vec();
            frame.resize(34, 0);
            frame.extend_from_slice(&plain[26..]);
            frame.resize(frame.len() + 8, 0);
            link.pn += 1;
            key.encapsulate(&mut frame, link.pn, 0)?;
            written += put(&on_air(108, &frame), &mut time)?;
            let mut ack = Vec::new();
            ControlRepr::Ack(0, link.station).emit(&mut ack);
            written += put(&on_air(48, &ack), &mut time)?;
            frames += 2;
        }
        if frames % 104 == 0 {
            beacon[22] = beacon[22].wrapping_add(16);
            written += put(&on_air(12, &beacon), &mut time)?;
        }
    }
    out.finish()?;
    println!("{}", links[0].0.key_text());
    Ok(())
}
